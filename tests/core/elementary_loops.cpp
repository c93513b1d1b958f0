// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops over core/elementary.hpp, whose machine code vector_loops.py reads: one function each.

#include <phyllo/core/elementary.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/layer/tanh.hpp>

#define LOOP(name, T, call)                     \
  extern "C" void name##_##T(T* __restrict a) { \
    PHYLLO_SIMD(16)                             \
    for (int i = 0; i < 256; ++i) {             \
      T const x = a[i];                         \
      a[i] = call;                              \
    }                                           \
  }
#define LOOPS(name, call) \
  LOOP(name, float, call) \
  LOOP(name, double, call)

LOOPS(square_root, phyllo::square_root(x))
LOOPS(exponential, phyllo::exponential(x))
LOOPS(decay, phyllo::decay(x))
LOOPS(logarithm, phyllo::logarithm(x))
LOOPS(hyperbolic_tangent, phyllo::hyperbolic_tangent(x))
LOOPS(logistic, phyllo::logistic(x))
LOOPS(error_function_complement, phyllo::error_function_complement(x))
LOOPS(gelu, phyllo::GELU::value(x))
LOOPS(gelu_derivative, phyllo::GELU::derivative(x))
LOOPS(tanh_derivative, phyllo::Tanh::derivative(x))
LOOPS(sigmoid_derivative, phyllo::Sigmoid::derivative(x))

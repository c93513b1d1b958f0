// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops over values and gradients of pointwise layers, whose machine code vector_loops.py reads:
// one function each.

#include <phyllo/layer/elu.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/hard_sigmoid.hpp>
#include <phyllo/layer/hard_tanh.hpp>
#include <phyllo/layer/leaky_relu.hpp>
#include <phyllo/layer/mish.hpp>
#include <phyllo/layer/prelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/root_of_sum.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/layer/silu.hpp>
#include <phyllo/layer/softplus.hpp>
#include <phyllo/layer/softsign.hpp>
#include <phyllo/layer/tanh.hpp>

using namespace phyllo;

// A parameter of its own, for a layer that has one.
struct PReLUOfQuarter {
  template <class T> static T value(T x) { return PReLU<>::value(x, T(0.25)); }
  template <class T> static T derivative(T x) {
    auto const d = PReLU<>::derivatives(x, T(0.25));
    return d.by[0] + d.by[1];
  }
};

// The gradient as a loop of a backend has it: a product and a sum beside the derivative.
#define LOOP(name, T, ...)                                                                  \
  extern "C" void name##_value_##T(T const* __restrict x, T* __restrict y) {                \
    PHYLLO_SIMD(16)                                                                         \
    for (int i = 0; i < 256; ++i) y[i] = T(0.5) + __VA_ARGS__::value(x[i]);                 \
  }                                                                                         \
  extern "C" void name##_gradient_##T(T const* __restrict y, T const* __restrict d_y,       \
                                      T* __restrict d_x) {                                  \
    PHYLLO_SIMD(16)                                                                         \
    for (int i = 0; i < 256; ++i) d_x[i] = d_x[i] + d_y[i] * __VA_ARGS__::derivative(y[i]); \
  }
#define LOOPS(name, ...)         \
  LOOP(name, float, __VA_ARGS__) \
  LOOP(name, double, __VA_ARGS__)

LOOPS(relu, ReLU)
LOOPS(leaky_relu, LeakyReLU<0.1>)
LOOPS(prelu, PReLUOfQuarter)
LOOPS(relu6, ReLU6)
LOOPS(hard_tanh, HardTanh<-0.5, 0.25>)
LOOPS(hard_sigmoid, HardSigmoid)
LOOPS(hard_swish, HardSwish)
LOOPS(elu, ELU<0.75>)
LOOPS(celu, CELU<1.5>)
LOOPS(selu, SELU)
LOOPS(silu, SiLU)
LOOPS(mish, Mish)
LOOPS(softplus, Softplus<2.0>)
LOOPS(log_sigmoid, LogSigmoid)
LOOPS(softsign, Softsign)
LOOPS(gelu, GELU)
LOOPS(tanh_gelu, TanhGELU)
LOOPS(tanh, Tanh)
LOOPS(sigmoid, Sigmoid)
LOOPS(cube, WholePower<3>)
LOOPS(root, RootOfSum<2, 4>)

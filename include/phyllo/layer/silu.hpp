// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/layer/pointwise.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The sigmoid linear unit, also called swish: y = x / (1 + exp(-x)).
///
/// shape    any -> the same
/// errors   none: every finite number is allowed; minus infinity gives NaN, as infinity times zero
/// numerics value: relative error at most 4 epsilon while y is a normal number; derivative:
///          absolute error at most 4 epsilon (epsilon of T: 2^-23 for float)
/// cost     1 exponential and 1 division an element; the derivative needs the input
/// source   Hendrycks and Gimpel, arXiv:1606.08415 (2016); Elfwing, Uchibe and Doya, Neural
///          Networks 107 (2018) 3
struct SiLU : Pointwise {
  static constexpr char const* name = "silu";

  template <class T> PHYLLO_INLINE static T value(T x) { return x * logistic(x); }
  template <class T> PHYLLO_INLINE static T derivative(T x) {
    T const e = decay(-Kokkos::fabs(x)), larger = T(1) / (T(1) + e), smaller = e * larger;
    return chosen(x < T(0), smaller, larger) + x * (smaller * larger);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

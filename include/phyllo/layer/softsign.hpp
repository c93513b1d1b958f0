// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/layer/pointwise.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// y = x / (1 + |x|).
///
/// shape    any -> the same
/// errors   none: every finite number is allowed; infinities give NaN
/// numerics value: relative error at most 2 epsilon; derivative 1 / (1 + |x|)^2, relative error at
///          most 3 epsilon
/// cost     1 division an element; the derivative needs the input
/// source   Turian, Bergstra and Bengio, Quadratic Features and Deep Architectures for Chunking,
///          NAACL 2009
struct Softsign : Pointwise {
  static constexpr char const* name = "softsign";

  template <class T> PHYLLO_INLINE static T value(T x) { return x / (T(1) + Kokkos::fabs(x)); }
  template <class T> PHYLLO_INLINE static T derivative(T x) {
    T const share = T(1) / (T(1) + Kokkos::fabs(x));
    return share * share;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

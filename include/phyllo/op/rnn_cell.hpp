// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// The plain recurrence h' = f(x + r), with the hyperbolic tangent or the rectifier as f.
///
/// shape    one gate; state: h
/// source   Elman, "Finding Structure in Time", Cognitive Science 14 (1990) 179
template <Activation F> struct RNNCell {
  static_assert(F == Activation::hyperbolic_tangent || F == Activation::rectifier);
  static constexpr char const* name = "rnn";
  static constexpr int gates = 1;
  static constexpr int states = 1;
  static constexpr int kept = 1;
  static constexpr bool splits_gradient = false;

  template <class T>
  PHYLLO_INLINE static void activate(T const (&x)[gates], T const (&r)[gates], T (&keep)[kept]) {
    keep[0] = x[0] + r[0];
  }
  template <class T> PHYLLO_INLINE static void advance(T (&state)[states], T (&keep)[kept]) {
    if constexpr (F == Activation::rectifier)
      state[0] = keep[0] <= T(0) ? T(0) : keep[0];
    else
      state[0] = hyperbolic_tangent(keep[0]);
    keep[0] = state[0];
  }

  template <class T>
  PHYLLO_INLINE static void backward(T const (&keep)[kept], T const (&)[states],
                                     T (&d_state)[states], T (&d_x)[gates], T (&)[gates]) {
    if constexpr (F == Activation::rectifier)
      d_x[0] = keep[0] <= T(0) ? T(0) : d_state[0];
    else
      d_x[0] = d_state[0] * (T(1) - keep[0] * keep[0]);
    d_state[0] = T(0);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op

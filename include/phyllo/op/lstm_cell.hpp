// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Long short-term memory: c' = f c + i g, h' = o tanh(c'), with i, f and o logistic functions and
/// g a hyperbolic tangent of the sums x + r.
///
/// shape    gates in files and in memory: i, f, g, o; states: h, c
/// source   Hochreiter and Schmidhuber, Neural Computation 9 (1997) 1735; the forget gate: Gers,
///          Schmidhuber and Cummins, Neural Computation 12 (2000) 2451
struct LSTMCell {
  static constexpr char const* name = "lstm";
  static constexpr int gates = 4;
  static constexpr int states = 2;
  static constexpr int kept = 4;
  static constexpr bool splits_gradient = false;

  template <class T>
  PHYLLO_INLINE static void activate(T const (&x)[gates], T const (&r)[gates], T (&keep)[kept]) {
    keep[0] = logistic(x[0] + r[0]);
    keep[1] = logistic(x[1] + r[1]);
    keep[2] = hyperbolic_tangent(x[2] + r[2]);
    keep[3] = logistic(x[3] + r[3]);
  }
  template <class T> PHYLLO_INLINE static void advance(T (&state)[states], T (&keep)[kept]) {
    state[1] = keep[1] * state[1] + keep[0] * keep[2];
    state[0] = keep[3] * hyperbolic_tangent(state[1]);
  }

  template <class T>
  PHYLLO_INLINE static void backward(T const (&keep)[kept], T const (&before)[states],
                                     T (&d_state)[states], T (&d_x)[gates], T (&)[gates]) {
    T const i = keep[0], f = keep[1], g = keep[2], o = keep[3];
    T const t = hyperbolic_tangent(f * before[1] + i * g);
    T const d_h = d_state[0], d_c = d_state[1] + d_h * o * (T(1) - t * t);
    d_x[0] = d_c * g * i * (T(1) - i);
    d_x[1] = d_c * before[1] * f * (T(1) - f);
    d_x[2] = d_c * i * (T(1) - g * g);
    d_x[3] = d_h * t * o * (T(1) - o);
    d_state[0] = T(0);
    d_state[1] = d_c * f;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Gated recurrent unit: h' = (1 - z) n + z h with n = tanh(x_n + r h_n), where h_n is the
/// recurrent part of the sum, its bias included, and r and z are logistic functions.
///
/// shape    gates in files and in memory: r, z, n; state: h
/// source   Cho et al., EMNLP 2014; r behind the product, as in cuDNN and PyTorch
struct GRUCell {
  static constexpr char const* name = "gru";
  static constexpr int gates = 3;
  static constexpr int states = 1;
  static constexpr int kept = 4;
  static constexpr bool splits_gradient = true;

  template <class T>
  PHYLLO_INLINE static void activate(T const (&x)[gates], T const (&r)[gates], T (&keep)[kept]) {
    keep[0] = logistic(x[0] + r[0]);
    keep[1] = logistic(x[1] + r[1]);
    keep[2] = x[2] + keep[0] * r[2];
    keep[3] = r[2];
  }
  template <class T> PHYLLO_INLINE static void advance(T (&state)[states], T (&keep)[kept]) {
    keep[2] = hyperbolic_tangent(keep[2]);
    state[0] = keep[2] + keep[1] * (state[0] - keep[2]);
  }

  template <class T>
  PHYLLO_INLINE static void backward(T const (&keep)[kept], T const (&before)[states],
                                     T (&d_state)[states], T (&d_x)[gates], T (&d_r)[gates]) {
    T const r = keep[0], z = keep[1], n = keep[2];
    T const d_h = d_state[0];
    d_x[2] = d_h * (T(1) - z) * (T(1) - n * n);
    d_x[1] = d_h * (before[0] - n) * z * (T(1) - z);
    d_x[0] = d_x[2] * keep[3] * r * (T(1) - r);
    d_r[0] = d_x[0];
    d_r[1] = d_x[1];
    d_r[2] = d_x[2] * r;
    d_state[0] = d_h * z;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op

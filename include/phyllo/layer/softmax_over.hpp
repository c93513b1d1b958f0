// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/axis.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Softmax over one axis: y_i = exp(x_i) / sum over the axis of exp(x_k).
///
/// shape    (N, C, S...) -> (N, C, S...)
/// options  Over = Axis::channels, width (length of a sequence), height or depth
/// errors   compile: an input without the axis
/// numerics shifted by the largest number, so that nothing overflows; in Precision::accumulate
/// cost     2 exponentials per element
/// source   Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs",
///          1990
template <Axis Over> struct SoftmaxOver {
  static constexpr char const* name = "softmax_over";
  static constexpr Role role = Role::row;
  static constexpr bool logarithm = false;
  static constexpr Axis axis = Over;
  static constexpr bool accepts(Shape s) { return detail::has_axis(s, Over); }
  static constexpr Shape expected(Shape s) { return detail::with_axis(s, Over); }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "SoftmaxOver: the input has no such axis. Axis::width and length need one spatial "
        "extent, height two, depth three.");
  };
};

/// Logarithm of the softmax over one axis: y_i = x_i - ln(sum over the axis of exp(x_k)).
///
/// shape    (N, C, S...) -> (N, C, S...)
/// options  Over = Axis::channels, width (length of a sequence), height or depth
/// errors   compile: an input without the axis
/// numerics as SoftmaxOver
/// cost     as SoftmaxOver
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §6.2.2.3
template <Axis Over> struct LogSoftmaxOver {
  static constexpr char const* name = "log_softmax_over";
  static constexpr Role role = Role::row;
  static constexpr bool logarithm = true;
  static constexpr Axis axis = Over;
  static constexpr bool accepts(Shape s) { return detail::has_axis(s, Over); }
  static constexpr Shape expected(Shape s) { return detail::with_axis(s, Over); }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "LogSoftmaxOver: the input has no such axis. Axis::width and length need one "
                  "spatial extent, height two, depth three.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

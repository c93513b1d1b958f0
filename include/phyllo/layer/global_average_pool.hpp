// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/op/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over all positions of a channel, in any spatial rank: y[n, c] = sum over p of x[n, c, p] /
/// positions.
///
/// shape    (N, C, S...) -> (N, C, 1...)
/// errors   compile: an input without spatial extents
/// numerics accumulates in Precision::accumulate
/// cost     one read of the input
/// source   Lin, Chen, Yan, "Network In Network", ICLR 2014, §3.2
struct GlobalAveragePool {
  static constexpr char const* name = "global_average_pool";
  static constexpr Role role = Role::pooling;
  static constexpr op::PoolingKind kind = op::PoolingKind::average;

  static constexpr bool accepts(Shape s) { return s.rank > 0; }
  static constexpr Shape expected(Shape s) { return Shape{s.channels, 1, 1}; }
  static constexpr Window window_on(Shape s) {
    Window w;
    for (int d = 0; d < 3; ++d) w.size[d] = s.spatial[d];
    return w;
  }
  static constexpr Shape output(Shape s) { return window_on(s).output(s, s.channels); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "GlobalAveragePool: expected spatial extents to average over, got channels only. "
                  "Remove it, or put it before Flatten.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

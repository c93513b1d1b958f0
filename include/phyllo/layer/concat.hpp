// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Concatenation of the channels of several values: the last step of a Branch and of
/// ConcatFrom<tag>.
///
/// shape    (N, C1, S...), (N, C2, S...), ... -> (N, C1 + C2 + ..., S...)
/// errors   compile: different spatial extents; one value only
/// numerics exact
/// cost     one read, one write
/// source   Szegedy et al., "Going Deeper with Convolutions", CVPR 2015, §5
struct Concat {
  static constexpr char const* name = "concat";
  static constexpr Role role = Role::concatenation;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Concat: Branch and ConcatFrom require values of the same spatial extents. "
                  "Change stride, padding or Upsample on one of the paths.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

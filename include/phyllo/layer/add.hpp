// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sum of two values: the last step of a Residual and of AddFrom<tag>.
///
/// shape    (N, C, S...), (N, C, S...) -> (N, C, S...)
/// errors   compile: two different shapes; one value only
/// numerics in Precision::accumulate
/// cost     two reads, one write
/// source   He et al., "Deep Residual Learning", CVPR 2016, eq. 1
struct Add {
  static constexpr char const* name = "add";
  static constexpr Role role = Role::add;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "Add: Residual and AddFrom require two values of the same shape. Use a Shortcut "
        "with the same stride and channels as the Main, or Combine<Plus, tag> for a value "
        "of a single position or channel.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

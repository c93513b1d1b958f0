// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// All extents of a sample as channels, in the order (C, S...).
///
/// shape    (N, C, S...) -> (N, C S)
/// errors   none
/// numerics exact
/// cost     none before Linear layers, which read the unflattened value with permuted weights, and
///          none where there is one channel or one position; otherwise one read and one write
/// source   the order of torch.nn.Flatten, so that weights fit
struct Flatten {
  static constexpr char const* name = "flatten";
  static constexpr Role role = Role::move;
  static constexpr bool reshapes = true;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return Shape{s.size()}; }
  static constexpr MoveMap map(Shape s) { return MoveMap::reshaped(s, output(s)); }
};

}  // namespace phyllo::inline PHYLLO_ISA

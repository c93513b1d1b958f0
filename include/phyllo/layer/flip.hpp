// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The order of coordinates in some dimensions reversed. They count as in torch: 1 is the channels,
/// 2 the first spatial extent, -1 the last dimension.
///
/// shape    any -> the same
/// errors   compile: a dimension that the input does not have, or the batch; one of them twice
/// numerics exact
/// cost     one read, one write
/// source   x.flip(Dim...) of torch
template <int... Dim> struct Flip {
  static constexpr char const* name = "flip";
  static constexpr Role role = Role::move;
  static constexpr int count = sizeof...(Dim);
  static constexpr int dims[] = {Dim..., 0};

  static constexpr bool accepts(Shape s) {
    int reversed[4] = {};
    for (int i = 0; i < count; ++i) {
      int const k = MoveMap::axis_of(s, dims[i]);
      if (k < 0 || reversed[k]++ > 0) return false;
    }
    return count > 0;
  }
  static constexpr Shape expected(Shape s) { return s; }
  static constexpr Shape output(Shape s) { return s; }
  static constexpr MoveMap map(Shape s) {
    MoveMap m = MoveMap::of(s);
    for (int i = 0; i < count; ++i) {
      MoveAxis& a = m.axis[MoveMap::axis_of(s, dims[i])];
      if (a.extent == 1) continue;
      a.begin = a.extent - 1;
      a.step = -1;
    }
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Flip: expected dimensions of the input, each once, 1 for the channels, 2 for "
                  "the first spatial extent, -1 for the last.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

#include <climits>

namespace phyllo::inline PHYLLO_ISA {

/// Every Step-th coordinate from Begin up to End, End excluded, of one dimension. Dim counts as in
/// torch: 0 is the batch, 1 the channels, 2 the first spatial extent; -1 is the last dimension.
/// Begin and End count from the end where they are negative: Slice<2, -1> is the last position of a
/// sequence.
///
/// shape    (N, C, S...) -> the same, with ceil((End - Begin) / Step) coordinates in dimension Dim
/// options  End: the extent · Step: 1
/// errors   compile: a dimension that the input does not have, or the batch; a step that is not
///          positive; no coordinate
/// numerics exact; the gradient of what is left out is zero
/// cost     one read, one write
/// source   x[:, Begin:End:Step] of torch
template <int Dim, int Begin, int End = INT_MAX, int Step = 1> struct Slice {
  static constexpr char const* name = "slice";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape s) {
    return Step > 0 && MoveMap::axis_of(s, Dim) >= 0 && axis_on(s).extent > 0;
  }
  static constexpr Shape expected(Shape s) { return s; }
  static constexpr Shape output(Shape s) {
    int const k = MoveMap::axis_of(s, Dim);
    (k == 3 ? s.channels : s.spatial[k]) = axis_on(s).extent;
    return s;
  }
  static constexpr MoveMap map(Shape s) {
    return MoveMap::of(s).with(MoveMap::axis_of(s, Dim), axis_on(s));
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "Slice: expected a dimension of the input (1: channels, 2: first spatial extent), "
        "at least one coordinate from Begin to End, and a positive step. Change Slice or "
        "the input; Flip reverses.");
  };

 private:
  static constexpr int inside(int i, int extent) {
    if (i < 0) i += extent;
    return i < 0 ? 0 : i > extent ? extent : i;
  }
  static constexpr MoveAxis axis_on(Shape s) {
    MoveMap const m = MoveMap::of(s);
    MoveAxis a = m.axis[MoveMap::axis_of(s, Dim)];
    a.begin = inside(Begin, a.source_extent);
    int const count = inside(End, a.source_extent) - a.begin;
    a.extent = count <= 0 ? 0 : (count - 1) / Step + 1;
    a.step = Step;
    return a;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

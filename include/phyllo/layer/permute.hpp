// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Another order of all dimensions but the batch. They count as in torch: 1 is the channels, 2 the
/// first spatial extent. Permute<2, 1> exchanges the channels and the positions of a sequence.
///
/// shape    (N, dimensions 1, 2, ...) -> (N, dimensions Dim...)
/// errors   compile: another number of dimensions than the input has; one of them twice
/// numerics exact
/// cost     none where the result is stored as the input; otherwise one read, one write
/// source   x.permute(0, Dim...) of torch
template <int... Dim> struct Permute {
  static constexpr char const* name = "permute";
  static constexpr Role role = Role::move;
  static constexpr int count = sizeof...(Dim);
  static constexpr int dims[] = {Dim..., 0};

  static constexpr bool accepts(Shape s) {
    if (count != s.rank + 1) return false;
    unsigned named = 0;
    for (int i = 0; i < count; ++i) {
      if (dims[i] < 1 || dims[i] > count) return false;
      named |= 1u << dims[i];
    }
    return named == (2u << count) - 2u;
  }
  static constexpr Shape expected(Shape s) { return s; }
  static constexpr Shape output(Shape s) {
    Shape to = s.with_channels(s.extent(dims[0] - 1));
    for (int i = 1; i <= s.rank; ++i) to.spatial[2 - s.rank + i] = s.extent(dims[i] - 1);
    return to;
  }
  static constexpr MoveMap map(Shape s) {
    MoveMap const from = MoveMap::of(s);
    MoveMap m = from;
    for (int i = 0; i <= s.rank; ++i)
      m.axis[MoveMap::axis_of(s, i + 1)] = from.axis[MoveMap::axis_of(s, dims[i])];
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Permute: expected every dimension of the input but the batch once, 1 for the "
                  "channels, 2 for the first spatial extent. Permute<2, 1> is for (N, C, L).");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

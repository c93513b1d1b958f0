// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Without the outermost positions: as many at either border of every spatial dimension, or of each
/// its own number. Slice leaves out others.
///
/// shape    (N, C, S...) -> (N, C, S - 2 Border...)
/// errors   compile: an input without spatial extents; neither one number nor one for each; a
///          negative one; no position left
/// numerics exact; the gradient of what is left out is zero
/// cost     one read, one write
/// source   torch.nn.functional.pad with negative padding
template <int... Border> struct Crop {
  static constexpr char const* name = "crop";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape s) {
    if (s.rank == 0 || (sizeof...(Border) != 1 && int(sizeof...(Border)) != s.rank)) return false;
    for (int d = 3 - s.rank; d < 3; ++d)
      if (border(s, d) < 0 || s.spatial[d] <= 2L * border(s, d)) return false;
    return true;
  }
  static constexpr Shape expected(Shape s) { return s; }
  static constexpr Shape output(Shape s) {
    Shape to = s;
    for (int d = 3 - s.rank; d < 3; ++d) to.spatial[d] -= 2 * border(s, d);
    return to;
  }
  static constexpr MoveMap map(Shape s) {
    MoveMap m = MoveMap::of(s);
    for (int d = 3 - s.rank; d < 3; ++d) {
      MoveAxis a = m.axis[d];
      a.begin = border(s, d);
      a.extent -= 2 * a.begin;
      m = m.with(d, a);
    }
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Crop: expected one number that is not negative, or one for each spatial extent "
                  "of the input, and an input of which a position is left. Change either.");
  };

 private:
  static constexpr int border(Shape s, int d) {
    constexpr int of[] = {Border..., 0};
    return of[sizeof...(Border) == 1 ? 0 : d - 3 + s.rank];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

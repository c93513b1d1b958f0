// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The numbers of a sample under other extents, in the order (C, S...) of both: channels, then up
/// to three spatial extents. One extent may be -1: what remains.
///
/// shape    (N, C, S...) -> (N, Extent...)
/// errors   compile: another number of elements; more than four extents, or more than one -1
/// numerics exact
/// cost     none where both are stored alike, as between shapes of one channel, and none to one
///          extent before Linear layers; otherwise one read and one write
/// source   x.reshape(N, Extent...) of torch; torch.nn.Unflatten where the input is flat
template <int... Extent> struct Reshape {
  static constexpr char const* name = "reshape";
  static constexpr Role role = Role::move;
  static constexpr bool reshapes = true;
  static constexpr bool valid_extents = sizeof...(Extent) >= 1 && sizeof...(Extent) <= 4 &&
                                        (0 + ... + (Extent == -1)) <= 1 &&
                                        ((Extent > 0 || Extent == -1) && ...);

  static constexpr bool accepts(Shape s) {
    if (!valid_extents) return false;
    double const all = (1.0 * ... * (Extent > 0 ? Extent : 1));
    bool const rest = ((Extent < 0) || ...);
    return all <= s.size() && (rest ? s.size() % long(all) == 0 : long(all) == s.size());
  }
  static constexpr Shape expected(Shape s) { return s; }
  static constexpr Shape output(Shape s) {
    constexpr int extent[] = {Extent..., 1};
    constexpr int count = sizeof...(Extent);
    int const all = (1 * ... * (Extent > 0 ? Extent : 1));
    auto const of = [&](int i) { return extent[i] > 0 ? extent[i] : s.size() / all; };
    Shape to(of(0));
    to.rank = count - 1;
    for (int i = 1; i < count; ++i) to.spatial[3 - count + i] = of(i);
    return to;
  }
  static constexpr MoveMap map(Shape s) { return MoveMap::reshaped(s, output(s)); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Reshape: expected one to four positive extents, channels first, with as many "
                  "elements as the input has; one of them may be -1, which is what remains.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

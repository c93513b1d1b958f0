// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/move.hpp>
#include <phyllo/backend/reference/move.hpp>
#include <phyllo/layer/pixel_shuffle.hpp>

#include <backend/portable/comparison.hpp>

#include <algorithm>

namespace phyllo::test {

/// A map from one row of sizes: in turn steps through slices, each border, copies, other orders of
/// the axes, other extents, and channels as blocks of positions.
inline MoveMap drawn_map(SizeRow const& pick, int what) {
  int const rank = 1 + pick.row % 3;
  Shape s{what > 8 ? 8 * pick(0, 5) : pick(0)};
  s.rank = rank;
  for (int d = 3 - rank; d < 3; ++d) s.spatial[d] = pick(1 + d, rank == 1 ? 65 : rank == 2 ? 9 : 5);
  MoveMap m = MoveMap::of(s);
  if (what == 6) {  // permuted
    std::swap(m.axis[pick(4, 4) - 1], m.axis[3]);
    std::swap(m.axis[pick(5, 4) - 1], m.axis[2]);
  } else if (what >= 7 && what <= 9) {  // reshaped
    int const pair[] = {s.channels, s.spatial[2]};
    Shape to(what == 7 ? s.size() : pair[1], what == 7 ? 1 : s.size() / pair[1]);
    if (what == 8)
      to = Shape(2 * s.positions(), s.channels),
      m = MoveMap::of(Shape(2 * s.channels, s.positions()));
    m = MoveMap::reshaped(what == 8 ? Shape(2 * s.channels, s.positions()) : s, to);
  } else if (what == 10) {
    m = PixelShuffle<2>::map(s);
  } else if (what == 11) {
    m = PixelShuffle<2>::map(s).inverse();
  } else {
    for (int d = 0; d < (what == 0 ? 4 : 3); ++d) {
      MoveAxis a = m.axis[d];
      if (d < 3 - rank) continue;
      if (what == 0) {  // sliced, some of the axes backwards
        a.begin = std::min(pick(4 + d, 3), a.extent) - 1;
        a.step = pick(5 + d, 2);
        a.extent = (a.extent - a.begin - 1) / a.step + 1;
        if (pick(6 + d, 3) == 1) {
          a.begin += (a.extent - 1) * a.step;
          a.step = -a.step;
        }
      } else if (what <= 4) {  // with a border
        a.mode = PaddingMode(what - 1);
        int const most = a.mode == PaddingMode::reflect    ? a.extent - 1
                         : a.mode == PaddingMode::circular ? a.extent
                                                           : 3;
        a.begin = -std::min(most, pick(4 + d, 4) - 1);
        a.extent += std::min(most, pick(5 + d, 4) - 1) - a.begin;
      } else {
        a.repeat = pick(4 + d, 4);
        a.extent *= a.repeat;
      }
      m = m.with(d, a);
    }
  }
  return m;
}

/// A move and its gradient by a backend against plain loops, written and added.
template <class P, template <class, class> class Tested>
void compare_move(MoveMap const& map, int batch) {
  using S = typename P::storage;
  long const sources = long(batch) * map.source_size, targets = long(batch) * map.target_size;
  auto const x = numbers<S>(sources, 1), d_y = numbers<S>(targets, 2);
  auto const run = [&](MoveMap const& m, S const* from, long results, bool added) {
    op::Move::Forward<P> work;
    work.batch = batch;
    work.map = m.merged();
    if (!added) work.fill = typename P::accumulate(0.5);
    work.x = from;
    work.accumulate = added;
    compare<op::Move, P, Tested>(work, 0,
                                 output<S>(results, added, [](auto& w, S* p) { w.y = p; }));
  };
  for (bool const added : {false, true}) {
    run(map, x.data(), targets, added);
    if (map.is_one_to_one()) {
      run(map.inverse(), d_y.data(), sources, added);
    } else {
      op::Move::Backward<P> work;
      work.batch = batch;
      work.map = map;
      work.d_y = d_y.data();
      work.accumulate = added;
      compare<op::Move, P, Tested>(work, bound<P>(),
                                   output<S>(sources, added, [](auto& w, S* p) { w.d_x = p; }));
    }
  }
}

template <class P, template <class, class> class Tested> void compare_moves() {
  for_size_rows([](SizeRow const& pick) {
    for (int what = 0; what < 12; ++what) {
      if ((pick.row + what) % (all_cases ? 2 : 7) != 0) continue;
      INFO("row ", pick.row, " map ", what);
      compare_move<P, Tested>(drawn_map(pick, what), pick(9, 4) - 1);
    }
  });
}

}  // namespace phyllo::test

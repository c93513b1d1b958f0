// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/move_numbers.hpp>
#include <phyllo/backend/host/move_planes.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// One piece: some planes.
template <class P, bool Adds> struct move_planes {
  using S = typename P::storage;
  using Numbers = MoveNumbers<P, Adds>;
  op::Move::Forward<P> work;
  MovePlanes planes;
  int pieces;

  void operator()(int piece) const {
    long const all = long(work.batch) * planes.planes;
    long plane = all * piece / pieces;
    long const last = all * (piece + 1) / pieces;
    if (plane == last) return;
    for (MovePlace at(work.map, planes, plane); plane < last; ++plane, at.next()) {
      long const from = at.source();
      S* const y = work.y + at.target();
      if (from < 0)
        empty(y);
      else if (planes.kind == MovePlanes::Kind::row)
        row(work.x + from, y);
      else if (planes.kind == MovePlanes::Kind::image)
        image(work.x + from, y);
      else
        Numbers::transpose(work.x + from, planes, y);
    }
  }

 private:
  // Coordinates that lie inside of the source, of an axis along which neighbours read neighbours.
  static int first_inside(MoveAxis const& a) {
    return a.begin >= 0 ? 0 : -a.begin < a.extent ? -a.begin : a.extent;
  }
  static int last_inside(MoveAxis const& a) {
    int const end = a.source_extent - a.begin, first = first_inside(a);
    return end < first ? first : end < a.extent ? end : a.extent;
  }

  void empty(S* y) const {
    for (int i = 0; i < planes.repeats; ++i, y += planes.target_step)
      for (int o = 0; o < planes.outer.extent; ++o)
        Numbers::fill(S(work.fill), planes.inner.extent, y + long(o) * planes.outer_stride);
  }
  void row(S const* x, S* y) const {
    MoveAxis const& a = planes.inner;
    long const step = long(a.step) * a.source_stride;
    if (a.repeat > 1 && a.begin == 0 && a.step == 1 && a.extent == a.repeat * a.source_extent)
      return copies(x, y);
    if (a.repeat > 1 || a.every > 1 || (a.step != 1 && a.mode != PaddingMode::zeros))
      return each(x, 0, a.extent, y);
    if (a.step != 1) {  // inside, as slices and the reverse are
      if (a.source(0) < 0 || a.source(a.extent - 1) < 0) return each(x, 0, a.extent, y);
      return Numbers::strided(x + long(a.begin) * a.source_stride, step, a.extent, y);
    }
    int const first = first_inside(a), last = last_inside(a);
    each(x, 0, first, y);
    S const* const from = x + (long(a.begin) + first) * a.source_stride;
    if (a.source_stride == 1)
      Numbers::run(from, last - first, y + first);
    else
      Numbers::strided(from, step, last - first, y + first);
    each(x, last, a.extent, y);
  }
  void copies(S const* x, S* y) const {
    MoveAxis const& a = planes.inner;
    for (int s = 0; s < a.source_extent; ++s)
      for (int r = 0; r < a.repeat; ++r)
        Numbers::one(x + long(s) * a.source_stride, y + s * a.repeat + r);
  }
  void each(S const* x, int first, int last, S* y) const {
    MoveAxis const& a = planes.inner;
    if (a.mode == PaddingMode::zeros && a.is_shift() && last > first && a.source(first) < 0)
      return Numbers::fill(S(work.fill), last - first, y + first);
    for (int o = first; o < last; ++o) {
      int const at = a.source(o);
      if (at < 0)
        Numbers::fill(S(work.fill), 1, y + o);
      else
        Numbers::one(x + long(at) * a.source_stride, y + o);
    }
  }
  void image(S const* x, S* y) const {
    MoveAxis const& a = planes.outer;
    bool const is_run =
        a.step == 1 && a.repeat == 1 && a.every == 1 && a.source_stride == planes.inner.extent;
    int const first = is_run ? first_inside(a) : a.extent;
    int const last = is_run ? last_inside(a) : a.extent;
    rows(x, 0, first, y);
    if (last > first)
      Numbers::run(x + (long(a.begin) + first) * a.source_stride,
                   (last - first) * planes.inner.extent, y + long(first) * planes.outer_stride);
    rows(x, last, a.extent, y);
  }
  void rows(S const* x, int first, int last, S* y) const {
    MoveAxis const& a = planes.outer;
    int const count = planes.inner.extent;
    for (int o = first; o < last; ++o) {
      int const at = a.source(o);
      S* const to = y + long(o) * planes.outer_stride;
      if (at < 0)
        Numbers::fill(S(work.fill), count, to);
      else
        Numbers::run(x + long(at) * a.source_stride, count, to);
    }
  }
};

/// One piece: some samples, whose numbers keep their order (C, S) under extents that share no
/// blocks.
template <class P, bool Adds> struct move_in_order {
  using S = typename P::storage;
  op::Move::Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    MoveMap const& map = work.map;
    int const positions = map.axis[0].extent, channels = map.axis[1].extent;  // of the target
    for (long n = long(work.batch) * piece / pieces; n < long(work.batch) * (piece + 1) / pieces;
         ++n) {
      S const* const x = work.x + n * map.source_size;
      S* const y = work.y + n * map.target_size;
      int p = 0, c = 0;  // of the source
      for (int to_c = 0; to_c < channels; ++to_c)
        for (int to_p = 0; to_p < positions; ++to_p) {
          MoveNumbers<P, Adds>::one(x + long(p) * map.channels + c,
                                    y + long(to_p) * channels + to_c);
          if (++p == map.positions) p = 0, ++c;
        }
    }
  }
};

/// One piece: some rows of the source along its width, all channels; they gather from the rows that
/// copied them.
template <class P> struct move_sums {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Move::Backward<P> work;
  int pieces;
  static constexpr int block = 512;  // numbers of a row at once

  long rows() const {
    return long(work.batch) * work.map.axis[0].source_extent * work.map.axis[1].source_extent;
  }
  void operator()(int piece) const {
    MoveMap const& map = work.map;
    int const width = map.axis[2].source_extent, channels = map.axis[3].extent;
    int const some = channels < block ? channels : block;
    int const together = block / some;  // positions
    for (long row = rows() * piece / pieces; row < rows() * (piece + 1) / pieces; ++row) {
      int const h = int(row % map.axis[1].source_extent);
      long const rest = row / map.axis[1].source_extent;
      int const d = int(rest % map.axis[0].source_extent);
      S const* const d_y = work.d_y + rest / map.axis[0].source_extent * map.target_size;
      for (int w = 0; w < width; w += together)
        for (int c = 0; c < channels; c += some) {
          int const last = w + together < width ? w + together : width;
          int const count = channels - c < some ? channels - c : some;
          A sum[block] = {};
          add_rows(d_y + c, d, h, w, last, count, sum);
          for (int q = w; q < last; q += count == channels ? last - w : 1) {
            int const numbers = count == channels ? (last - w) * count : count;
            S* const d_x = work.d_x + (row * width + q) * channels + c;
            if (work.accumulate) add_numbers(d_x, numbers, sum);
            store_numbers(sum, numbers, d_x);
          }
        }
    }
  }

 private:
  // What copied positions [first, last) of row (d, h), `count` channels of each, into their sums.
  void add_rows(S const* d_y, int d, int h, int first, int last, int count, A* sum) const {
    MoveMap const& map = work.map;
    MoveReaders const of_d = map.axis[0].readers(d), of_h = map.axis[1].readers(h);
    MoveAxis const& a = map.axis[2];
    long const channels = map.axis[3].extent;
    for (int to_d = of_d.next(-1); to_d >= 0; to_d = of_d.next(to_d))
      for (int to_h = of_h.next(-1); to_h >= 0; to_h = of_h.next(to_h)) {
        S const* const row = d_y + (long(to_d) * map.axis[1].extent + to_h) * a.extent * channels;
        if (a.repeat == 1) {
          int const numbers = count == channels ? (last - first) * count : count;
          add_numbers(row + (first - a.begin) * channels, numbers, sum);
        } else {
          for (int w = first; w < last; ++w)
            for (int r = 0; r < a.repeat; ++r)
              add_numbers(row + (long(w) * a.repeat + r) * channels, count,
                          sum + (w - first) * count);
        }
        if (a.mode != PaddingMode::zeros) {
          for (int o = 0; o < -a.begin; ++o) add_border(row, o, first, last, count, sum);
          for (int o = a.source_extent - a.begin; o < a.extent; ++o)
            add_border(row, o, first, last, count, sum);
        }
      }
  }
  void add_border(S const* row, int o, int first, int last, int count, A* sum) const {
    int const w = work.map.axis[2].source(o);
    if (w >= first && w < last)
      add_numbers(row + long(o) * work.map.axis[3].extent, count, sum + (w - first) * count);
  }
};

/// Moves as copies of runs and transposed blocks; their gradients as sums of rows.
template <class P> struct Kernels<op::Move, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Move::Forward<P> const& work) {
    if (work.batch == 0) return;
    if (work.accumulate)
      move<true>(exec, label, work);
    else
      move<false>(exec, label, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Move::Backward<P> const& work) {
    if (work.batch == 0) return;
    move_sums<P> sums{work, 1};
    sums.pieces = worthy_pieces(exec, sums.rows(),
                                int(long(work.batch) * work.map.target_size / sums.rows()));
    launch(exec, label, sums.pieces, sums);
  }

 private:
  template <bool Adds, class Space>
  static void move(Space const& exec, std::string const& label, op::Move::Forward<P> const& work) {
    if (work.map.positions > 0) {
      int const pieces = worthy_pieces(exec, work.batch, work.map.target_size);
      return launch(exec, label, pieces, move_in_order<P, Adds>{work, pieces});
    }
    MovePlanes planes(work.map);
    planes.join(work.batch, 4L * exec.concurrency());
    int const pieces = worthy_pieces(exec, long(work.batch) * planes.planes, planes.plane_size());
    launch(exec, label, pieces, move_planes<P, Adds>{work, planes, pieces});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

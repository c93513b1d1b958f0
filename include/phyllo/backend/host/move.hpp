// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>
#include <phyllo/op/move.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// A map as planes of its target: one or two axes that are moved at once, and the axes around them.
struct MovePlanes {
  enum class Kind : unsigned char {
    row,        // the last axis
    image,      // the last two: rows of numbers that stay together
    transpose,  // the last axis, and the one along which the source is contiguous
  };
  Kind kind = Kind::row;
  int axes = 0;  // around the planes
  MoveAxis axis[MoveMap::most_axes] = {};
  int target_stride[MoveMap::most_axes] = {};
  MoveAxis outer = {};  // of a plane of two axes
  int outer_stride = 0;
  MoveAxis inner = {};
  long planes = 1;  // of a sample

  explicit MovePlanes(MoveMap const& map) {
    int const last = map.axes - 1;
    int of_plane = -1;
    if (last >= 0) inner = map.axis[last];
    if (last > 0 && inner.is_identity() && inner.source_stride == 1) {
      kind = Kind::image;
      of_plane = last - 1;
    }
    for (int k = 0; k < last && inner.is_identity() && inner.source_stride > 1; ++k)
      if (map.axis[k].is_identity() && map.axis[k].source_stride == 1) {
        kind = Kind::transpose;
        of_plane = k;
      }
    int stride = map.target_size;
    for (int k = 0; k < last; ++k) {
      stride /= map.axis[k].extent;
      if (k == of_plane) {
        outer = map.axis[k];
        outer_stride = stride;
      } else {
        axis[axes] = map.axis[k];
        target_stride[axes++] = stride;
        planes *= map.axis[k].extent;
      }
    }
  }
  int plane_size() const { return outer.extent * inner.extent; }
};

/// The planes of a batch one after the other, with what they read.
class MovePlace {
 public:
  MovePlace(MoveMap const& map, MovePlanes const& planes, long plane)
      : map_(map), planes_(planes), sample_(plane / planes.planes) {
    plane %= planes.planes;
    for (int k = planes.axes - 1; k >= 0; --k) {
      at_[k] = int(plane % planes.axis[k].extent);
      plane /= planes.axis[k].extent;
    }
    find(0);
  }
  void next() {
    int k = planes_.axes - 1;
    for (; k >= 0 && ++at_[k] == planes_.axis[k].extent; --k) at_[k] = 0;
    if (k < 0) ++sample_;
    find(k < 0 ? 0 : k);
  }
  /// Elements from the first one of the batch; of the source: -1, if all of the plane is the fill.
  long target() const { return sample_ * map_.target_size + target_[planes_.axes]; }
  long source() const {
    long const from = source_[planes_.axes];
    return from < 0 ? -1 : sample_ * map_.source_size + map_.offset + from;
  }

 private:
  // Sums over the axes before each one, from axis k on.
  void find(int k) {
    for (; k < planes_.axes; ++k) {
      int const at = planes_.axis[k].source(at_[k]);
      source_[k + 1] =
          at < 0 || source_[k] < 0 ? -1 : source_[k] + long(at) * planes_.axis[k].source_stride;
      target_[k + 1] = target_[k] + long(at_[k]) * planes_.target_stride[k];
    }
  }

  MoveMap const& map_;
  MovePlanes const& planes_;
  long sample_;
  int at_[MoveMap::most_axes] = {};
  long source_[MoveMap::most_axes + 1] = {};
  long target_[MoveMap::most_axes + 1] = {};
};

/// Numbers of a sample into their places, or added to what is there.
template <class P, bool Adds> struct MoveNumbers {
  using A = typename P::accumulate;
  using S = typename P::storage;

  PHYLLO_INLINE_ON_HOST static void one(S const* x, S* y) {
    if constexpr (Adds)
      *y = S(A(*y) + A(*x));
    else
      *y = *x;
  }
  static void run(S const* x, int count, S* y) {
    if constexpr (Adds) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < count; ++i) store_number(number<A>(y, i) + number<A>(x, i), y, i);
    } else if (count < 32) {
      for (int i = 0; i < count; ++i) y[i] = x[i];
    } else {
      std::memcpy(y, x, sizeof(S) * std::size_t(count));
    }
  }
  static void fill(S value, int count, S* y) {
    if constexpr (!Adds)  // else it is zero
      for (int i = 0; i < count; ++i) y[i] = value;
  }
  static void strided(S const* x, long step, int count, S* y) {
    for (int i = 0; i < count; ++i) one(x + i * step, y + i);
  }
  /// y[c, r] from x[r, c].
  static void transpose(S const* x, long x_stride, int rows, int columns, S* y, long y_stride) {
    constexpr bool in_registers = !Adds && (std::is_same_v<S, float> || std::is_same_v<S, double>);
    constexpr int block = 16;
    for (int c = 0; c < columns; c += block)
      for (int r = 0; r < rows; r += block) {
        int const height = rows - r < block ? rows - r : block;
        int const width = columns - c < block ? columns - c : block;
        S const* const from = x + r * x_stride + c;
        S* const to = y + c * y_stride + r;
        if constexpr (in_registers) {
          if (height == block && width == block) {
            constexpr int square = VectorSquare<S>::size;
            for (int j = 0; j < block; j += square)
              for (int i = 0; i < block; i += square)
                VectorSquare<S>::transpose(from + i * x_stride + j, x_stride, to + j * y_stride + i,
                                           y_stride);
            continue;
          }
        }
        for (int j = 0; j < width; ++j) strided(from + j, x_stride, height, to + j * y_stride);
      }
  }
};

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
        Numbers::transpose(work.x + from, planes.inner.source_stride, planes.inner.extent,
                           planes.outer.extent, y, planes.outer_stride);
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
    MovePlanes const planes(work.map);
    int const pieces = worthy_pieces(exec, work.batch * planes.planes, planes.plane_size());
    launch(exec, label, pieces, move_planes<P, Adds>{work, planes, pieces});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

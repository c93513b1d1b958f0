// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/chunk_place.hpp>
#include <phyllo/backend/gpu/product/window_operand.hpp>
#include <phyllo/core/divisor.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What a convolution multiplies its weights by, as chunks of 8 channels: as WindowOperand. Where
/// the taps of a position are inside of the image is found once for a tile of the result; a stage
/// then needs an addition and a bit.
///
/// shape    image (N, S, C); rows (N, positions), columns (taps, C); lines are rows where
///          AlongDepth, else columns
template <class S, bool AlongDepth, WindowPass Pass> struct WindowChunks {
  using value = S;
  static constexpr bool along_depth = AlongDepth;
  static constexpr int most_taps = 32;
  static_assert(AlongDepth || Pass == WindowPass::forward, "gradients of weights read images");

  S const* data = nullptr;
  long lines = 0;
  long depth = 0;
  int channels = 0;
  int taps = 0;
  int image[3];
  int size[3], stride[3], padding[3];
  long sample = 0;                 // numbers from one sample to the next
  Divisor positions, plane, line;  // of the rows
  int tap_offset[most_taps];       // numbers from a position's first tap

  static bool fits(S const* from, int batch, Shape const& read, Shape const& over,
                   Window const& w) {
    return has_chunks(from, read.channels) && w.taps() <= most_taps &&
           long(batch) * over.positions() < (1L << 31) && read.size() < (1L << 31);
  }

  WindowChunks(S const* from, int batch, Shape const& read, Shape const& over, Window const& w)
      : data(from),
        channels(read.channels),
        taps(w.taps()),
        sample(read.size()),
        positions(unsigned(over.positions())),
        plane(unsigned(over.spatial[1] * over.spatial[2])),
        line(unsigned(over.spatial[2])) {
    long const rows = long(batch) * over.positions(), columns = long(taps) * channels;
    lines = AlongDepth ? rows : columns;
    depth = AlongDepth ? columns : rows;
    for (int d = 0; d < 3; ++d) {
      image[d] = read.spatial[d];
      size[d] = w.size[d];
      stride[d] = w.stride[d];
      padding[d] = w.padding[d];
    }
    for (int t = 0; t < taps; ++t) {
      int const tap[3] = {t / size[2] / size[1], t / size[2] % size[1], t % size[2]};
      int at = 0;
      for (int d = 0; d < 3; ++d)
        at = at * image[d] + (Pass == WindowPass::forward ? tap[d] : -(tap[d] / stride[d]));
      tap_offset[t] = at * channels;
    }
  }

  /// The numbers from `data` to the first tap of a row, and for each tap whether it is inside.
  struct Row {
    long first;
    unsigned inside;
  };
  PHYLLO_INLINE Row row(unsigned r) const {
    int place[3];
    unsigned const n = position(r, place);
    int at = 0;
    unsigned bits[3] = {};  // taps of one dimension
    PHYLLO_UNROLL_ON_DEVICE
    for (int d = 0; d < 3; ++d) {
      int const reach =
          Pass == WindowPass::forward ? place[d] * stride[d] - padding[d] : place[d] + padding[d];
      for (int t = 0; t < size[d]; ++t)
        if (is_inside(d, reach, t)) bits[d] |= 1u << t;
      at = at * image[d] + (Pass == WindowPass::forward ? reach : reach / stride[d]);
    }
    unsigned inside = 0;
    for (int t = 0; t < size[0]; ++t)
      for (int u = 0; u < size[1]; ++u)
        if ((bits[0] >> t & bits[1] >> u & 1) != 0)
          inside |= bits[2] << (t * size[1] + u) * size[2];
    return {n * sample + long(at) * channels, inside};
  }

  /// A tap of a row, channel c; nullptr where it is outside.
  PHYLLO_INLINE S const* one(unsigned r, int const (&tap)[3], int c) const {
    int place[3];
    unsigned const n = position(r, place);
    int at = 0;
    PHYLLO_UNROLL_ON_DEVICE
    for (int d = 0; d < 3; ++d) {
      int const p = place[d] * stride[d] - padding[d] + tap[d];
      if (p < 0 || p >= image[d]) return nullptr;
      at = at * image[d] + p;
    }
    return data + n * sample + long(at) * channels + c;
  }

  /// The chunks of a thread, stage by stage, of rows that are lines.
  template <class Place> struct RowsCursor {
    Row of_row[Place::count];
    int tap, c;

    PHYLLO_INLINE void begin(WindowChunks const& of, long from, long depth, Place const& place) {
      int const column = int(depth) + place.number();
      tap = column / of.channels;
      c = column % of.channels;
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < Place::count; ++i) {
        long const r = from + place.row + i * Place::between;
        of_row[i] = r < of.lines ? of.row(unsigned(r)) : Row{0, 0};
      }
    }
    /// nullptr: zeros.
    PHYLLO_INLINE S const* at(WindowChunks const& of, int chunk) const {
      Row const& row = of_row[chunk];
      return tap < of.taps && (row.inside >> tap & 1) != 0
                 ? of.data + row.first + of.tap_offset[tap] + c
                 : nullptr;
    }
    PHYLLO_INLINE void advance(WindowChunks const& of) {
      c += stage_depth;
      while (c >= of.channels) {
        c -= of.channels;
        ++tap;
      }
    }
  };

  /// Of rows that are the depth.
  template <class Place> struct DepthCursor {
    int tap[3], c;
    long k;  // the first chunk's row; beyond the depth: the tap is none

    PHYLLO_INLINE void begin(WindowChunks const& of, long from, long depth, Place const& place) {
      int const column = int(from) + place.number(), t = column / of.channels;
      c = column % of.channels;
      tap[0] = t / of.size[2] / of.size[1];
      tap[1] = t / of.size[2] % of.size[1];
      tap[2] = t % of.size[2];
      k = column < of.lines ? depth + place.row : of.depth;
    }
    PHYLLO_INLINE S const* at(WindowChunks const& of, int chunk) const {
      long const r = k + chunk * Place::between;
      return r < of.depth ? of.one(unsigned(r), tap, c) : nullptr;
    }
    PHYLLO_INLINE void advance(WindowChunks const&) { k += stage_depth; }
  };

  template <class Place>
  using Cursor = std::conditional_t<AlongDepth, RowsCursor<Place>, DepthCursor<Place>>;

 private:
  // Its sample, and where it is on the grid.
  PHYLLO_INLINE unsigned position(unsigned r, int (&place)[3]) const {
    unsigned const n = positions.quotient(r), q = r - n * positions.by;
    unsigned const q0 = plane.quotient(q), rest = q - q0 * plane.by, q1 = line.quotient(rest);
    place[0] = int(q0);
    place[1] = int(q1);
    place[2] = int(rest - q1 * line.by);
    return n;
  }
  // Tap t of dimension d; reach: where the first one is, in steps of the positions' stride.
  PHYLLO_INLINE bool is_inside(int d, int reach, int t) const {
    int const at = Pass == WindowPass::forward ? reach + t : reach - t;
    if constexpr (Pass == WindowPass::forward)
      return at >= 0 && at < image[d];
    else
      return at >= 0 && at % stride[d] == 0 && at / stride[d] < image[d];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

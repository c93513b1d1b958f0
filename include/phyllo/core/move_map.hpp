// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/convolution_shape.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The coordinates of a target that copy one coordinate of its source: at most three ranges, in
/// rising order.
struct MoveReaders {
  int ranges = 0;
  int first[3] = {0, 0, 0};
  int last[3] = {0, 0, 0};

  /// The one behind coordinate o; -1: there is none. The first one is behind -1.
  PHYLLO_FUNCTION constexpr int next(int o) const {
    for (int k = 0; k < ranges; ++k)
      if (o + 1 < last[k]) return o + 1 < first[k] ? first[k] : o + 1;
    return -1;
  }
};

/// One axis of a move: which coordinate of the source each coordinate of the target copies.
struct MoveAxis {
  int extent = 1;         // of the target
  int source_extent = 1;  // of the source
  int source_stride = 0;  // elements
  int begin = 0;          // target coordinate o reads (begin + step (o / repeat)) / every
  int step = 1;
  int repeat = 1;
  int every = 1;                          // what is no multiple of it reads nothing
  PaddingMode mode = PaddingMode::zeros;  // what is read beyond the source; zeros: the fill

  /// The coordinate of the source; -1: the fill.
  PHYLLO_FUNCTION constexpr int source(int o) const {
    int at = begin + step * (repeat > 1 ? o / repeat : o);
    if (every > 1) {
      if (at % every != 0) return -1;
      at /= every;
    }
    if (at >= 0 && at < source_extent) return at;
    if (mode == PaddingMode::circular) return at < 0 ? at + source_extent : at - source_extent;
    if (mode == PaddingMode::reflect) return at < 0 ? -at : 2 * (source_extent - 1) - at;
    if (mode == PaddingMode::replicate) return at < 0 ? 0 : source_extent - 1;
    return -1;
  }
  /// Which coordinates read coordinate s, of an axis whose step is one.
  PHYLLO_FUNCTION constexpr MoveReaders readers(int s) const {
    MoveReaders r;
    int const end = source_extent - 1;
    if (mode == PaddingMode::circular)
      add(r, s - source_extent, 1);
    else if (mode == PaddingMode::reflect && s > 0)
      add(r, -s, 1);
    else if (mode == PaddingMode::replicate && s == 0)
      add(r, begin, -begin);
    add(r, s, 1);
    if (mode == PaddingMode::circular)
      add(r, s + source_extent, 1);
    else if (mode == PaddingMode::reflect && s < end)
      add(r, 2 * end - s, 1);
    else if (mode == PaddingMode::replicate && s == end)
      add(r, source_extent, extent);
    return r;
  }
  /// Whether every coordinate of the source is read at most once.
  constexpr bool is_one_to_one() const { return repeat == 1 && mode == PaddingMode::zeros; }
  /// Whether coordinates that are neighbours read neighbours, from an offset on.
  PHYLLO_FUNCTION constexpr bool is_shift() const {
    return step == 1 && repeat == 1 && every == 1 && mode == PaddingMode::zeros;
  }
  /// Whether coordinate o reads coordinate o.
  constexpr bool is_identity() const { return is_shift() && begin == 0 && extent == source_extent; }

 private:
  // One more range: what reads `count` coordinates from `at` on, those beyond the source included.
  PHYLLO_FUNCTION constexpr void add(MoveReaders& r, int at, int count) const {
    int const from = (at - begin) * repeat, to = from + count * repeat;
    if (from >= extent || to <= 0) return;
    r.first[r.ranges] = from < 0 ? 0 : from;
    r.last[r.ranges++] = to > extent ? extent : to;
  }
};

/// Which element of a sample each element of another sample copies: the constants of an op::Move.
///
/// shape    axes in the order in which the target is stored, (S..., C), split or merged
struct MoveMap {
  static constexpr int most_axes = 7;  // PixelShuffle in three dimensions

  int axes = 0;
  MoveAxis axis[most_axes] = {};
  int offset = 0;  // of the source: elements
  int source_size = 1;
  int target_size = 1;
  // More than 0: the axes make an index (C, S) of the source, which has so many positions and
  // channels, in the field's order.
  int positions = 0;
  int channels = 1;

  /// Everything where it is: axes depth, height, width, channels of a shape.
  static constexpr MoveMap of(Shape const& s) {
    MoveMap m{};
    m.source_size = m.target_size = s.size();
    int stride = s.size();
    for (int d = 0; d < 3; ++d) m.append(s.spatial[d], stride /= s.spatial[d]);
    m.append(s.channels, 1);
    return m;
  }
  /// Which of these axes dimension `dim` of a batch (N, C, S...) is, negative ones counted from the
  /// end; -1: none, or the batch.
  static constexpr int axis_of(Shape const& s, int dim) {
    if (dim < 0) dim += s.rank + 2;
    if (dim < 1 || dim > s.rank + 1) return -1;
    return dim == 1 ? 3 : 1 - s.rank + dim;
  }
  /// From a shape to another one of as many elements, both in the order (C, S...).
  static constexpr MoveMap reshaped(Shape const& from, Shape const& to) {
    MoveMap m{};
    m.source_size = m.target_size = from.size();
    int const before = from.positions(), after = to.positions();
    if (after % before == 0) {  // a channel of the source is a part of one of the target
      m.append(after / before, 1);
      m.append(before, from.channels);
      m.append(to.channels, after / before);
    } else if (before % after == 0) {
      m.append(after, from.channels);
      m.append(from.channels, 1);
      m.append(before / after, after * from.channels);
    } else {
      m.append(after, 1);
      m.append(to.channels, after);
      m.positions = before;
      m.channels = from.channels;
    }
    return m;
  }
  /// With another axis in place of number k.
  constexpr MoveMap with(int k, MoveAxis const& a) const {
    MoveMap m = *this;
    m.target_size = m.target_size / axis[k].extent * a.extent;
    m.axis[k] = a;
    return m;
  }

  /// The element of the source that element i of the target copies; -1: the fill.
  PHYLLO_FUNCTION constexpr int source(int i) const {
    int from = offset;
    for (int k = axes - 1; k >= 0; --k) {
      int const rest = k > 0 ? i / axis[k].extent : 0;
      int const at = axis[k].source(i - rest * axis[k].extent);
      if (at < 0) return -1;
      from += at * axis[k].source_stride;
      i = rest;
    }
    return positions > 0 ? from % positions * channels + from / positions : from;
  }

  /// The same where every axis is whole and in order.
  PHYLLO_FUNCTION constexpr int source_in_order(int i) const {
    int from = offset;
    for (int k = axes - 1; k >= 0; --k) {
      int const rest = k > 0 ? i / axis[k].extent : 0;
      from += (i - rest * axis[k].extent) * axis[k].source_stride;
      i = rest;
    }
    return from;
  }
  constexpr bool is_in_order() const {
    for (int k = 0; k < axes; ++k)
      if (!axis[k].is_identity()) return false;
    return positions == 0;
  }
  /// Whether something else than the fill is read beyond the source.
  constexpr bool has_borders() const {
    for (int k = 0; k < axes; ++k)
      if (axis[k].mode != PaddingMode::zeros) return true;
    return false;
  }

  /// The next axis, inside of those before.
  constexpr void append(MoveAxis const& a) { axis[axes++] = a; }
  constexpr void append(int extent, int source_stride) {
    append({.extent = extent, .source_extent = extent, .source_stride = source_stride});
  }

  constexpr bool is_one_to_one() const {
    for (int k = 0; k < axes; ++k)
      if (!axis[k].is_one_to_one()) return false;
    return true;
  }
  /// Whether the target is stored as the source.
  constexpr bool is_identity() const {
    MoveMap const m = merged();
    return m.source_size == m.target_size && m.positions == 0 &&
           (m.axes == 0 ||
            (m.axes == 1 && m.axis[0].is_identity() && m.axis[0].source_stride == 1));
  }

  /// The same map with as few axes as possible, so that kernels copy long runs.
  constexpr MoveMap merged() const {
    MoveMap m = *this;
    m.axes = 0;
    for (int k = 0; k < axes; ++k) {
      MoveAxis const& a = axis[k];
      if (a.extent == 1 && a.source(0) >= 0) {
        m.offset += a.source(0) * a.source_stride;
        continue;
      }
      MoveAxis* const outer = m.axes > 0 ? &m.axis[m.axes - 1] : nullptr;
      if (outer != nullptr && a.is_identity() && outer->is_shift() &&
          outer->source_stride == a.extent * a.source_stride) {
        outer->extent *= a.extent;
        outer->source_extent *= a.extent;
        outer->begin *= a.extent;
        outer->source_stride = a.source_stride;
      } else {
        m.append(a);
      }
    }
    return m;
  }

  /// The map from the target back to the source, of a map that is one to one: what no element of
  /// the target reads is the fill.
  constexpr MoveMap inverse() const {
    MoveMap back{};
    back.source_size = target_size;
    back.target_size = source_size;
    if (positions > 0) {  // (S', C') of (C, S)
      back.append(positions, 1);
      back.append(channels, positions);
      back.positions = axis[0].extent;
      back.channels = axis[1].extent;
      return back;
    }
    int order[most_axes] = {}, stride[most_axes] = {};  // as the source is stored; of the target
    for (int k = 0, inside = target_size; k < axes; ++k) {
      stride[k] = inside /= axis[k].extent;
      int at = k;
      for (; at > 0 && axis[order[at - 1]].source_stride < axis[k].source_stride; --at)
        order[at] = order[at - 1];
      order[at] = k;
    }
    for (int k = 0; k < axes; ++k) {
      MoveAxis const& a = axis[order[k]];
      int const sign = a.step < 0 ? -1 : 1;
      back.append({.extent = a.source_extent,
                   .source_extent = a.extent,
                   .source_stride = stride[order[k]],
                   .begin = -sign * a.begin,
                   .step = sign,
                   .every = sign * a.step});
    }
    return back;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

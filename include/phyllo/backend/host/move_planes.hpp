// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/move.hpp>

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
  // Of a transposition: so many planes lie side by side, and are moved one after the other.
  int repeats = 1;
  int source_step = 0;
  int target_step = 0;

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
  /// Moves planes along the last axis around them together, where `least` runs of them are left.
  void join(int batch, long least) {
    if (kind != Kind::transpose || axes == 0 || !axis[axes - 1].is_identity()) return;
    MoveAxis const& along = axis[axes - 1];
    if (long(batch) * (planes / along.extent) < least) return;
    repeats = along.extent;
    source_step = along.source_stride;
    target_step = target_stride[--axes];
    planes /= repeats;
  }
  int plane_size() const { return outer.extent * inner.extent * repeats; }
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

}  // namespace phyllo::inline PHYLLO_ISA::host

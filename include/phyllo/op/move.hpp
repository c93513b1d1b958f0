// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Elements of every sample to other places: y[n, i] = x[n, map.source(i)], or the fill.
///
/// shape    x (N, map.source_size) -> y (N, map.target_size), both as they are stored
/// numerics exact
/// cost     one read, one write (two reads when accumulating)
struct Move {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    MoveMap map;  // merged
    typename Precision::accumulate fill = 0;
    storage const* x = nullptr;
    storage* y = nullptr;
    bool accumulate = false;  // y += what is moved; the fill is zero then
  };
  /// d_x[n, j] (+)= sum over the elements i that copied j of d_y[n, i], in rising order. Of maps
  /// that read an element several times; those of others are a Forward of the inverse map.
  ///
  /// shape    four axes: the spatial extents, then the channels, each of which is read once
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0;
    MoveMap map;  // not merged
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

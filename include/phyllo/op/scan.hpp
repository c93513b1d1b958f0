// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/op/work_memory.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::op {

/// Where a scan begins: some channels of a value with one row for each sample.
///
/// shape    x (N, channels), of which [from, from + H); x nullptr: zeros
template <class Number> struct ScanState {
  Number* x = nullptr;
  int channels = 0, from = 0;
  bool accumulate = false;  // gradients: add to them; else the other channels become zero

  PHYLLO_FUNCTION Number* row(int sample) const { return x + long(sample) * channels + from; }
};

/// A cell with one set of weights over all times of a sequence: the state of a time follows from
/// the one before and from x, the input's part of the cell's sums. r[g, u] = bias[g, u] + sum over
/// k of h[k] weight[k, g, u]; for each unit u, keep = Cell::activate(x[t], r), what does not depend
/// on the unit's states but h, then (state', keep') = Cell::advance(state, keep). The first state
/// is h, the output. Backwards, the sequence begins at its last valid time.
///
/// shape    x (N, T, gates, H) · weight (H, gates, H) · bias (gates, H) · y (N, T, 1 + carried, H)
/// state    Cell: `name`, the counts `gates`, `states` (at most two) and `kept`, whether the
///          gradients of x and r differ, `splits_gradient`, and the formulas `activate`,
///          `advance` and `backward` of one unit
/// errors   a length outside of 0 .. T makes all outputs of the sample not a number, so that
///          neither is a loss; it has no gradient
/// numerics h is rounded to the storage type from time to time, other states are not; sums run over
///          k in rising order, bias first
/// cost     2 N T gates H H flop in each pass. What the gates computed is kept, in place of x:
///          computing it again would need x, which is as large, and the products once more
template <class Cell, int Hidden> struct Scan {
  static_assert(Cell::states >= 1 && Cell::states <= 2, "Scan: a cell has one or two states.");
  using cell = Cell;
  static constexpr int hidden = Hidden;
  static constexpr int gates = Cell::gates;
  static constexpr int states = Cell::states;
  static constexpr int products = gates * Hidden;  // numbers of x at one time
  /// Of the cell's numbers, the first ones are kept where x was, the others elsewhere.
  static constexpr int more_kept = Cell::kept > gates ? Cell::kept - gates : 0;
  /// Numbers that the backward pass reads besides, of one time: in the storage type the others, the
  /// h before, and the gradient of r where it differs; in the type of sums the other states before.
  static constexpr int kept_storage =
      more_kept * Hidden + Hidden + (Cell::splits_gradient ? products : 0);
  static constexpr int kept_accumulate = (states - 1) * Hidden;

  /// What both passes have in common.
  template <class Precision> struct Sequence {
    using storage = typename Precision::storage;
    int batch = 0;
    int times = 0;
    bool reverse = false;
    std::int32_t const* lengths = nullptr;  // (N) valid times; nullptr: all
    storage const* weight = nullptr;
    // The states that follow h in each row of y, from this one on, so that other layers can read
    // the last ones: beyond the length they stay as they are, where h in front of them is zero.
    int carried_from = states;
    WorkMemory memory = {};

    PHYLLO_FUNCTION int y_channels() const { return (1 + states - carried_from) * Hidden; }
    /// Valid times of a sample; -1 for a length outside of 0 .. T, which no time reaches.
    PHYLLO_FUNCTION int length(int sample) const {
      int const given = lengths == nullptr ? times : int(lengths[sample]);
      return given < 0 || given > times ? -1 : given;
    }
    PHYLLO_FUNCTION static bool is_valid(int length) { return length >= 0; }
    /// The row (n, t) of step number s of a sample.
    PHYLLO_FUNCTION long row(int sample, int step) const {
      return long(sample) * times + (reverse ? times - 1 - step : step);
    }
    PHYLLO_FUNCTION bool reaches(int length, int step) const {
      return (reverse ? times - 1 - step : step) < length;
    }
  };

  template <class Precision> struct Forward : Sequence<Precision> {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    storage const* x = nullptr;
    storage const* bias = nullptr;  // nullptr: zeros
    ScanState<storage const> initial[states] = {};
    storage* y = nullptr;
    // For the backward pass; nullptr: not kept. Zeros beyond the length.
    storage* keep = nullptr;       // (N, T, gates, H), x itself: the first numbers of the cell
    storage* keep_more = nullptr;  // (N, T, more_kept, H)
    storage* h_before = nullptr;   // (N, T, H)
    accumulate* before = nullptr;  // (N, T, states - 1, H)
  };

  /// d_x and, where it differs, d_r; the gradients of weight and bias are those of a contraction
  /// with the rows h_before and d_r.
  template <class Precision> struct Backward : Sequence<Precision> {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    storage const* keep_more = nullptr;
    storage const* h_before = nullptr;
    accumulate const* before = nullptr;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;  // (N, T, gates, H) written over `keep`, zeros beyond the length
    storage* d_r = nullptr;  // (N, T, gates, H), the same; nullptr: it is d_x
    ScanState<storage> d_initial[states] = {};  // x nullptr: not wanted
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/loss_tile.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Whether rows of a loss are computed side by side.
template <class L>
inline constexpr bool is_side_by_side = L::classes && requires { requires L::side_by_side; };

/// Whether the targets of a loss are channels like those of its output.
template <class L>
inline constexpr bool has_target_channels = !L::classes && op::outputs_per_target<L>() > 0;

/// One work item: a block of samples, or where there are few, a block of one sample's positions,
/// whose sums are left in `partial`. Short rows of losses with `side_by_side` become tiles.
/// Channels of targets are read in place where they are contiguous numbers of the kind that sums
/// are of, and are copied some rows at a time where they are not.
template <class L, bool Few, class P> struct loss_rows_piece {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int loss_rows = Lanes<A>::size;
  static constexpr int most_copied = 4096;  // numbers of a target's row; longer ones are not copied
  static constexpr int copied_at_once = 1024;  // numbers: they and the outputs stay in cache
  typename op::Loss<L>::template Evaluate<P> work;
  int pieces = 1;        // of the samples
  int splits = 1;        // of each sample, if pieces is their number
  A* partial = nullptr;  // (2, batch, splits)

  struct Sums {
    A value = 0, correct = 0;
  };

  void operator()(int item) const {
    int const positions = work.shape.positions();
    if (splits > 1) {
      int const n = item / splits, k = item % splits;
      Sums const s =
          range(n, int(long(positions) * k / splits), int(long(positions) * (k + 1) / splits));
      partial[item] = s.value;
      partial[work.batch * splits + item] = s.correct;
      return;
    }
    int const first = int(long(work.batch) * item / pieces),
              last = int(long(work.batch) * (item + 1) / pieces);
    if constexpr (is_side_by_side<L>)
      if (positions == 1 && work.shape.channels <= op::few_channels) {
        for (int n = first; n < last; n += loss_rows)
          tile(n, 0, last - n < loss_rows ? last - n : loss_rows, true);
        return;
      }
    if constexpr (has_target_channels<L>)
      if (positions == 1) {
        rows(0, first, last, true);
        return;
      }
    for (int n = first; n < last; ++n) keep(n, range(n, 0, positions));
  }

  /// The sums of a sample become its mean.
  void keep(int n, Sums const& s) const {
    A const positions = A(work.shape.positions());
    A const value = s.value * (work.weight / positions);
    work.values[n] = work.accumulate_values ? work.values[n] + value : value;
    if (work.correct != nullptr) work.correct[n] = s.correct / positions;
  }

 private:
  A factor() const {
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    return work.weight * scale / A(work.shape.positions());
  }

  Sums range(int n, int first, int last) const {
    Sums sum;
    if constexpr (is_side_by_side<L>)
      if (work.shape.channels <= op::few_channels) {
        for (int p = first; p < last; p += loss_rows) {
          Sums const s = tile(n, p, last - p < loss_rows ? last - p : loss_rows, false);
          sum.value += s.value;
          sum.correct += s.correct;
        }
        return sum;
      }
    if constexpr (has_target_channels<L>)
      return rows(n, first, last, false);
    else if constexpr (!is_side_by_side<L> || !Few)
      for (int p = first; p < last; ++p)
        add(sum, row_at(n, p), 1, op::TargetRow<L, A>(work.targets, n, work.shape, p));
    return sum;
  }

  long row_at(int n, int p) const {
    return (long(n) * work.shape.positions() + p) * work.shape.channels;
  }

  // Rows first .. last - 1: samples of one position each, whose sums are kept, or positions of
  // sample n. Rows of one sample become one long row where the loss is a mean over channels.
  PHYLLO_NOINLINE Sums rows(int n, int first, int last, bool of_samples) const {
    int const channels = work.shape.channels;
    int const of_target = channels / op::outputs_per_target<L>();
    int const at_once = of_target < copied_at_once ? copied_at_once / of_target : 1;
    bool const joined = op::mean_of_channels<L>() && !of_samples;
    alignas(64) A room[most_copied];
    Sums sum;
    for (int begin = first; begin < last; begin += at_once) {
      int const count = last - begin < at_once ? last - begin : at_once;
      TargetBlock const targets = of_samples ? samples_of(begin, count, of_target, room)
                                             : positions_of(n, begin, count, of_target, room);
      for (int k = 0; k < count;) {
        int const sample = of_samples ? begin + k : n, p = of_samples ? 0 : begin + k;
        int const together = joined && targets.row != nullptr ? count : 1;
        Sums one;
        if (targets.row != nullptr)
          add(one, row_at(sample, p), together,
              op::OutputRow<A, A>{targets.row + k * targets.stride});
        else
          add(one, row_at(sample, p), 1, op::TargetRow<L, A>(work.targets, sample, work.shape, p));
        if (of_samples) keep(sample, one);
        sum.value += one.value;
        k += together;
      }
    }
    return sum;
  }

  // Targets of some rows, or nullptr where they are neither contiguous nor short enough for a copy.
  struct TargetBlock {
    A const* row = nullptr;
    long stride = 0;  // from row to row
  };
  TargetBlock samples_of(int first, int count, int channels, A* room) const {
    ExternalTensor const& t = work.targets;
    if (is_in_place(channels))
      return {static_cast<A const*>(t.data[0]) + first * t.sample_stride, t.sample_stride};
    if (channels > most_copied) return {};
    TileTransfer<A>::load(t, first, count, channels, room, channels);
    return {room, channels};
  }
  TargetBlock positions_of(int n, int first, int count, int channels, A* room) const {
    ExternalTensor const& t = work.targets;
    Shape const& s = work.shape;
    if (is_in_place(channels) && t.spatial_stride[2] == channels &&
        TileTransfer<A>::is_one_line(t, s))
      return {static_cast<A const*>(t.data[0]) + n * t.sample_stride + long(first) * channels,
              channels};
    if (channels > most_copied) return {};
    TileTransfer<A>::load_positions(t, n, s, first, count, channels, room);
    return {room, channels};
  }
  bool is_in_place(int channels) const {
    constexpr ElementType exact = std::is_same_v<A, double> ? ElementType::f64 : ElementType::f32;
    ExternalTensor const& t = work.targets;
    return t.variables == 0 && t.type == exact && (t.channel_stride == 1 || channels == 1);
  }

  // `rows` rows one behind the other, as one.
  template <class Target> void add(Sums& sum, long at, int rows, Target const& target) const {
    op::GradientRow<S, A> const gradient{work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
                                         factor() * A(rows), work.accumulate_gradient};
    op::LossRow<L, S, A, op::VectorLoops, Target> const row({}, rows * work.shape.channels,
                                                            work.outputs + at, target, gradient);
    sum.value += A(rows) * row.evaluate(work.held_loss());
    if (work.correct != nullptr) sum.correct += row.correct();
  }

  // `rows` rows from position p of sample n: samples of one position each, or positions of one
  // sample. Rows that are missing are computed as zeros.
  PHYLLO_NOINLINE Sums tile(int n, int p, int rows, bool of_samples) const {
    int const channels = work.shape.channels;
    long const at = (long(n) * work.shape.positions() + p) * channels;
    alignas(64) A z[op::few_channels * loss_rows];         // (C, rows)
    alignas(64) A gradient[op::few_channels * loss_rows];  // (C, rows)
    alignas(64) int label[loss_rows];
    S const* const outputs = work.outputs + at;
    for (int r = 0; r < loss_rows; ++r) {
      label[r] = -1;
      if (r < rows) {
        op::TargetRow<L, A> const target(work.targets, of_samples ? n + r : n, work.shape,
                                         of_samples ? 0 : p + r);
        label[r] = op::label_of<L>(target(0), channels);
        for (int c = 0; c < channels; ++c) z[c * loss_rows + r] = A(outputs[r * channels + c]);
      } else {
        for (int c = 0; c < channels; ++c) z[c * loss_rows + r] = A(0);
      }
    }
    TileRow<A> const row(channels, z, label, factor(),
                         work.d_outputs == nullptr ? nullptr : gradient);
    Lanes<A> const value = row.evaluate(work.held_loss());
    Lanes<A> const correct = work.correct != nullptr ? row.correct() : Lanes<A>(A(0));
    if (work.d_outputs != nullptr) store(rows, gradient, work.d_outputs + at);
    Sums sum;
    for (int r = 0; r < rows; ++r) {
      if (of_samples) keep(n + r, {value[r], correct[r]});
      sum.value += value[r];
      sum.correct += correct[r];
    }
    return sum;
  }

  void store(int rows, A const* gradient, S* to) const {
    int const channels = work.shape.channels;
    if (work.accumulate_gradient)
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < channels; ++c)
          to[r * channels + c] = S(A(to[r * channels + c]) + gradient[c * loss_rows + r]);
    else
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < channels; ++c) to[r * channels + c] = S(gradient[c * loss_rows + r]);
  }
};

template <class L, bool Few, class P> struct Kernels<op::Loss<L, Few>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Loss<L>::template Evaluate<P> const& work) {
    using A = typename P::accumulate;
    // Fewer numbers than these take no longer than it takes to start a thread.
    constexpr long worth_a_thread = 8192, few_samples = 16, most_splits = 16;
    if (work.batch == 0) return;
    long const numbers = long(work.batch) * work.shape.size();
    loss_rows_piece<L, Few, P> piece{work};
    // How the positions of few samples are split does not depend on the number of threads.
    long const blocks = long(work.shape.size()) / worth_a_thread;
    if (work.batch < few_samples && !work.same_in_any_batch && work.shape.positions() > 1 &&
        blocks > 1) {
      A partial[2 * few_samples * most_splits];
      piece.partial = partial;
      piece.splits = int(blocks < most_splits ? blocks : most_splits);
      if (piece.splits > work.shape.positions()) piece.splits = work.shape.positions();
      launch(exec, label, work.batch * piece.splits, piece);
      exec.fence(label);
      for (int n = 0; n < work.batch; ++n) {
        typename loss_rows_piece<L, Few, P>::Sums s;
        for (int k = 0; k < piece.splits; ++k) {
          s.value += partial[n * piece.splits + k];
          s.correct += partial[(work.batch + n) * piece.splits + k];
        }
        piece.keep(n, s);
      }
      return;
    }
    long count = numbers / worth_a_thread;
    if (count > exec.concurrency()) count = exec.concurrency();
    if (count > work.batch) count = work.batch;
    piece.pieces = count < 1 ? 1 : int(count);
    launch(exec, label, piece.pieces, piece);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/map_tile.hpp>
#include <phyllo/backend/portable/map.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// One piece: some of the rows.
template <class Op, class P> struct map_forward {
  typename Op::template Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    MapTile<Op, P> tile(work);
    long const last = work.rows() * (piece + 1) / pieces;
    for (long r = work.rows() * piece / pieces; r < last; r += tile.rows_at_once) {
      int const rows = last - r < tile.rows_at_once ? int(last - r) : tile.rows_at_once;
      for (int c = 0; c < work.channels; c += tile.span) {
        int const left = work.channels - c;
        tile.read(r, rows, c, left < tile.span ? left : tile.span);
        tile.store_values(work.y);
      }
    }
  }
};

/// One block of rows: gradients of the operands, and partial sums of those of the parameters. Sums
/// over the positions of a sample are in arrays of a tile, so that such a block consists of whole
/// samples.
template <class Op, class P> class MapBlock {
 public:
  using Tile = MapTile<Op, P>;
  using A = typename Tile::A;
  using S = typename Tile::S;
  using Work = typename Op::template Backward<P>;
  static constexpr int most = Tile::most;

  MapBlock(Work const& work, bool by_samples, A* partial)
      : work_(work), tile_(work), by_samples_(by_samples), partial_(partial) {
    if (partial_ == nullptr) return;
    for (int i = 0; i < Op::parameters * work_.channels; ++i) partial_[i] = A(0);
    for (int k = 0; k < Op::parameters; ++k)
      for (A& sum : of_parameter_[k]) sum = A(0);
  }

  void run(long first, long last) {
    if (!by_samples_) {
      rows(first, last);
    } else {
      for (long r = first; r < last; r += work_.positions) sample(r, r + work_.positions);
    }
    if (partial_ == nullptr || !is_narrow()) return;
    for (int k = 0; k < Op::parameters; ++k)
      for (int q = 0; q < tile_.rows_at_once; ++q)
        for (int c = 0; c < work_.channels; ++c)
          partial_[k * work_.channels + c] += of_parameter_[k][q * work_.channels + c];
  }

 private:
  bool is_narrow() const { return work_.channels <= most; }
  bool is_summed(int j) const { return work_.d_x[j] != nullptr && work_.x[j].position_step == 0; }

  void rows(long first, long last) {
    for (long r = first; r < last; r += tile_.rows_at_once) {
      int const count = last - r < tile_.rows_at_once ? int(last - r) : tile_.rows_at_once;
      for (A& sum : of_row_) sum = A(0);
      for (int c = 0; c < work_.channels; c += tile_.span) tile(r, count, c);
    }
  }
  // Chunks of channels one after the other, each at all positions.
  void sample(long first, long last) {
    for (int j = 0; j < Op::operands; ++j) total_[j] = A(0);
    for (int c = 0; c < work_.channels; c += tile_.span) {
      for (int j = 0; j < Op::operands; ++j)
        if (is_summed(j))
          for (A& sum : of_positions_[j]) sum = A(0);
      for (long r = first; r < last; r += tile_.rows_at_once) {
        for (A& sum : of_row_) sum = A(0);
        tile(r, last - r < tile_.rows_at_once ? int(last - r) : tile_.rows_at_once, c);
      }
      for (int j = 0; j < Op::operands; ++j)
        if (is_summed(j)) finish_positions(j, first, c);
    }
  }

  void tile(long r, int rows, int c) {
    int const left = work_.channels - c, count = left < tile_.span ? left : tile_.span;
    tile_.read(r, rows, c, count);
    A* slope[Op::count];
    for (int k = 0; k < Op::count; ++k) slope[k] = slope_[k];
    bool in_place[Op::operands] = {};
    if constexpr (Tile::is_exact)
      for (int j = 0; j < Op::operands; ++j) {
        in_place[j] = work_.d_x[j] != nullptr && work_.x[j].position_step != 0 &&
                      tile_.is_contiguous(j) && !work_.accumulate_gradient[j];
        if (in_place[j]) slope[j] = work_.d_x[j] + tile_.place(j, 0) + c;
      }
    tile_.differentiate(work_.d_y, slope);
    for (int j = 0; j < Op::operands; ++j) {
      if (work_.d_x[j] == nullptr || in_place[j]) continue;
      if (work_.x[j].position_step == 0)
        add(slope_[j], tile_.total(), of_positions_[j]);
      else if (work_.x[j].channel_step == 0)
        sum_rows(j, rows, c, count);
      else
        store(j, rows, c, count);
    }
    if (partial_ == nullptr) return;
    for (int k = 0; k < Op::parameters; ++k)
      add(slope_[Op::operands + k], tile_.total(),
          is_narrow() ? of_parameter_[k] : partial_ + k * work_.channels + c);
  }

  static PHYLLO_INLINE_ON_HOST void add(A const* from, int count, A* sums) {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) sums[i] += from[i];
  }
  static PHYLLO_INLINE_ON_HOST void store(A const* from, int count, S* to, bool adds) {
    if (adds) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < count; ++i) store_number(number<A>(to, i) + from[i], to, i);
    } else if constexpr (Tile::is_exact) {
      int i = 0;
      for (; i + lanes<A> <= count; i += lanes<A>)
        InstructionSet::store(to + i, InstructionSet::load(from + i));
      for (; i < count; ++i) to[i] = from[i];
    } else {
      store_numbers(from, count, to);
    }
  }
  void store(int j, int rows, int c, int count) {
    bool const adds = work_.accumulate_gradient[j];
    if (tile_.is_contiguous(j))
      return store(slope_[j], tile_.total(), work_.d_x[j] + tile_.place(j, 0) + c, adds);
    for (int q = 0; q < rows; ++q)
      store(slope_[j] + q * count, count, work_.d_x[j] + tile_.place(j, q) + c, adds);
  }
  void store_one(int j, long place, A sum) {
    S& d_x = work_.d_x[j][place];
    d_x = S(work_.accumulate_gradient[j] ? A(d_x) + sum : sum);
  }

  static A sum_of(A const* from, int count) {
    A lane[16] = {};
    int i = 0;
    for (; i + 16 <= count; i += 16)
      for (int l = 0; l < 16; ++l) lane[l] += from[i + l];
    for (; i < count; ++i) lane[i % 16] += from[i];
    for (int step = 8; step > 0; step /= 2)
      for (int l = 0; l < step; ++l) lane[l] += lane[l + step];
    return lane[0];
  }
  // One number for all channels of a position: complete with the last chunk of them. A row of
  // several chunks is the only one of its tile.
  void sum_rows(int j, int rows, int c, int count) {
    for (int q = 0; q < rows; ++q) {
      A const sum = sum_of(slope_[j] + q * count, count);
      if (is_narrow()) {
        store_one(j, tile_.place(j, q), sum);
      } else {
        of_row_[j] += sum;
        if (c + count == work_.channels) store_one(j, tile_.place(j, q), of_row_[j]);
      }
    }
  }
  // One number for all positions of a sample, and perhaps for all channels.
  void finish_positions(int j, long first, int c) {
    int const left = work_.channels - c, count = left < tile_.span ? left : tile_.span;
    A* const sum = of_positions_[j];
    for (int q = 1; q < tile_.rows_at_once; ++q) add(sum + q * count, count, sum);
    long const place = first / work_.positions * work_.x[j].pitch;
    if (work_.x[j].channel_step != 0)
      return store(sum, count, work_.d_x[j] + place + c, work_.accumulate_gradient[j]);
    total_[j] += sum_of(sum, count);
    if (left == count) store_one(j, place, total_[j]);
  }

  Work const& work_;
  Tile tile_;
  bool by_samples_;
  A* partial_;  // (parameters, C), or nullptr
  A total_[Op::operands] = {};
  A of_row_[Op::operands] = {};
  alignas(64) A slope_[Op::count][most];
  alignas(64) A of_positions_[Op::operands][most];
  alignas(64) A of_parameter_[Op::parameters > 0 ? Op::parameters : 1][most];
};

/// One piece: a block of rows, or of whole samples.
template <class Op, class P> struct map_backward {
  typename Op::template Backward<P> work;
  int pieces;
  bool by_samples;

  void operator()(int piece) const {
    long const units = by_samples ? work.batch : work.rows();
    long const rows = by_samples ? work.positions : 1;
    auto* const partial =
        Op::parameters == 0 ? nullptr : work.partial + long(piece) * Op::parameters * work.channels;
    MapBlock<Op, P>(work, by_samples, partial)
        .run(units * piece / pieces * rows, units * (piece + 1) / pieces * rows);
  }
};

/// Tiles of rows and channels.
template <class Formula, class Chain, class P> struct Kernels<op::Map<Formula, Chain>, P> {
  using Op = op::Map<Formula, Chain>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    if (work.rows() == 0) return;
    int const pieces = worthy_pieces(exec, work.rows(), work.channels);
    launch(exec, label, pieces, map_forward<Op, P>{work, pieces});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    bool by_samples = false, by_rows = false;
    for (int j = 0; j < Op::operands; ++j) {
      if (work.d_x[j] == nullptr) continue;
      by_samples = by_samples || work.x[j].position_step == 0;
      by_rows = by_rows || (work.x[j].position_step != 0 && work.x[j].channel_step == 0);
    }
    // Sums over the channels of a position need all chunks of these, one after the other; those
    // over the positions need all positions of a chunk.
    bool const is_wide = work.channels > MapTile<Op, P>::most;
    if (by_samples && by_rows && is_wide) return portable::Kernels<Op, P>::run(exec, label, work);
    int pieces = Op::parameters > 0 ? Op::blocks_of(work.rows())
                                    : worthy_pieces(exec, work.rows(), work.channels);
    if (by_samples && pieces > work.batch) pieces = work.batch;
    if (work.rows() > 0) launch(exec, label, pieces, map_backward<Op, P>{work, pieces, by_samples});
    if constexpr (Op::parameters > 0)
      portable::Kernels<Op, P>::combine(exec, label, work, work.rows() > 0 ? pieces : 0);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

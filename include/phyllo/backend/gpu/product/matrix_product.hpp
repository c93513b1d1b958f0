// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/backend/gpu/product/product_operand.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// How a block of threads shares its part of a product: RowWarps by ColumnWarps warps, each with 32
/// rows and Groups 16s of columns.
template <int RowWarps, int ColumnWarps, int Groups> struct ProductShape {
  static constexpr int column_warps = ColumnWarps, groups = Groups;
  static constexpr int warps = RowWarps * ColumnWarps;
  static constexpr int tiles = 2;  // 16s of rows of a warp
  static constexpr int rows = RowWarps * tiles * 16, columns = ColumnWarps * Groups * 16;
  static constexpr int depth = 32;  // of one step
};

/// epilogue(sums of left right): a product of matrices on matrix cores. A block computes a part of
/// the result in registers, in steps over the depth: while one step is multiplied, the next is on
/// its way from memory, and then goes to the other half of the scratch memory, as fragments.
///
/// options  MmaAtom: the matrix instruction · Left, Right: ProductOperand · Epilogue: takes four
///          columns of a row
/// numerics sums of each element run over the depth in one order, or over each of `depth_parts`
///          parts of it, whatever the number of blocks that run at a time
/// cost     2 rows columns depth flop; left is read columns / Shape::columns times, right rows /
///          Shape::rows times, mostly from the cache that multiprocessors share
template <class MmaAtom, class Left, class Right, class Epilogue, class Shape>
struct matrix_product {
  using S = typename MmaAtom::storage;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes;
  static constexpr int warps = Shape::warps;
  static constexpr int threads = warps * MmaAtom::lanes;
  static constexpr int left_fours = Shape::rows * Shape::depth / 4;
  static constexpr int right_fours = Shape::columns * Shape::depth / 4;
  static constexpr int step_fours = left_fours + right_fours;
  static constexpr int scratch_bytes = 2 * step_fours * int(sizeof(Pack4<S>));
  // Squares of 4 lines by 4 depths for each thread.
  static constexpr int left_squares = (left_fours / 4 + threads - 1) / threads;
  static constexpr int right_squares = (right_fours / 4 + threads - 1) / threads;

  Left left;
  Right right;
  Epilogue epilogue;
  /// Where there are few rows and columns and much depth: parts of it, each with a result of its
  /// own, whose rows stand behind those of the part before.
  int depth_parts = 1;

  /// What a thread has on its way from memory, and a warp of the result.
  struct Staged {
    Pack4<S> left[left_squares][4], right[right_squares][4];
  };
  struct State {
    typename MmaAtom::Sums sums[Shape::tiles][Shape::groups][MmaAtom::blocks][emulated_lanes];
  };

  PHYLLO_INLINE static constexpr long parts(long extent, long of) { return (extent + of - 1) / of; }
  PHYLLO_INLINE long results() const {
    return parts(left.lines, Shape::rows) * parts(right.lines, Shape::columns);
  }
  PHYLLO_INLINE long blocks() const { return results() * depth_parts; }

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    Staged staged[Team::threads_here];
    auto* const scratch = reinterpret_cast<Pack4<S>*>(team.scratch);
    long const across = parts(right.lines, Shape::columns);
    long const all_steps = parts(left.depth, Shape::depth);
    for (long block = team.block(); block < blocks(); block += team.blocks()) {
      int const part = int(block / results()), result = int(block % results());
      long const row = result / across * Shape::rows, column = result % across * Shape::columns;
      long const begin = all_steps * part / depth_parts;
      int const steps = int(all_steps * (part + 1) / depth_parts - begin);
      State states[Team::warps_here] = {};
      for (int s = 0; s <= steps; ++s) {
        if (s < steps)
          for (int t = 0; t < Team::threads_here; ++t)
            fetch(staged[t], row, column, (begin + s) * Shape::depth, team.first_thread() + t);
        if (s > 0)
          for (int w = 0; w < Team::warps_here; ++w)
            multiply(states[w], scratch + (s - 1) % 2 * step_fours, team.first_warp() + w,
                     team.first_lane());
        if (s < steps)
          for (int t = 0; t < Team::threads_here; ++t)
            store(staged[t], scratch + s % 2 * step_fours, team.first_thread() + t);
        team.barrier();
      }
      for (int w = 0; w < Team::warps_here; ++w)
        write(states[w], row, column, part * left.lines, team.first_warp() + w, team.first_lane());
    }
  }

 private:
  // Square i of a thread: which lines and depths, in squares.
  template <int Lines> struct Square {
    int line, depth;
    PHYLLO_INLINE Square(int thread, int i)
        : line((thread + i * threads) / (Shape::depth / 4)),
          depth((thread + i * threads) % (Shape::depth / 4)) {}
    PHYLLO_INLINE bool is_inside() const { return line < Lines / 4; }
  };

  PHYLLO_INLINE void fetch(Staged& staged, long row, long column, long depth, int thread) const {
    MmaAtom::opaque(thread);  // nvcc 13 keeps addresses over all steps, in up to 60 registers
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < left_squares; ++i) {
      Square<Shape::rows> const q(thread, i);
      if (q.is_inside()) left.read(row + 4 * q.line, depth + 4 * q.depth, staged.left[i]);
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < right_squares; ++i) {
      Square<Shape::columns> const q(thread, i);
      if (q.is_inside()) right.read(column + 4 * q.line, depth + 4 * q.depth, staged.right[i]);
    }
  }
  // [16 lines][16 depths][lane][part or block], or [part or block][lane] where a lane has more than
  // 16 bytes: the numbers that the lanes of a warp read in one access are contiguous.
  PHYLLO_INLINE void store(Staged const& staged, Pack4<S>* scratch, int thread) const {
    MmaAtom::opaque(thread);
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < left_squares; ++i) {
      Square<Shape::rows> const q(thread, i);
      PHYLLO_UNROLL_ON_DEVICE
      for (int r = 0; r < 4 && q.is_inside(); ++r) {
        int const line = 4 * q.line + r, k = 4 * q.depth;
        int const lane = MmaAtom::value_lane(line % 16, k % 16);
        scratch[place<MmaAtom::parts>(fragment(line / 16, k / 16), lane,
                                      MmaAtom::value_part(line % 16))] = staged.left[i][r];
      }
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < right_squares; ++i) {
      Square<Shape::columns> const q(thread, i);
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4 && q.is_inside(); ++c) {
        int const line = 4 * q.line + c, k = 4 * q.depth;
        int const lane = MmaAtom::weight_lane(k % 16, line % 16);
        scratch[left_fours + place<MmaAtom::blocks>(fragment(line / 16, k / 16), lane,
                                                    MmaAtom::weight_block(line % 16))] =
            staged.right[i][c];
      }
    }
  }
  PHYLLO_INLINE static int fragment(int group, int depth_group) {
    return (group * (Shape::depth / 16) + depth_group) * MmaAtom::lanes;
  }
  template <int Pieces> PHYLLO_INLINE static int place(int fragment, int lane, int piece) {
    constexpr bool together = Pieces * sizeof(Pack4<S>) <= 16;
    return fragment * Pieces + (together ? lane * Pieces + piece : piece * MmaAtom::lanes + lane);
  }

  PHYLLO_INLINE void multiply(State& state, Pack4<S> const* scratch, int warp,
                              int first_lane) const {
    MmaAtom::opaque(warp);
    int const first_row = warp / Shape::column_warps * Shape::tiles;
    int const first_column = warp % Shape::column_warps * Shape::groups;
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < Shape::depth / 16; ++k) {
      typename MmaAtom::Values values[Shape::tiles][emulated_lanes];
      PHYLLO_UNROLL_ON_DEVICE
      for (int m = 0; m < Shape::tiles; ++m) {
        for (int i = 0; i < emulated_lanes; ++i) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int p = 0; p < MmaAtom::parts; ++p)
            MmaAtom::put(
                values[m][i], p,
                scratch[place<MmaAtom::parts>(fragment(first_row + m, k), first_lane + i, p)]);
        }
      }
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < Shape::groups; ++n) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < MmaAtom::blocks; ++b) {
          typename MmaAtom::Weights weights[emulated_lanes];
          for (int i = 0; i < emulated_lanes; ++i)
            weights[i] = MmaAtom::weights(
                scratch[left_fours +
                        place<MmaAtom::blocks>(fragment(first_column + n, k), first_lane + i, b)]);
          PHYLLO_UNROLL_ON_DEVICE
          for (int m = 0; m < Shape::tiles; ++m)
            MmaAtom::multiply(state.sums[m][n][b], values[m], weights);
        }
      }
      MmaAtom::keep_order();
    }
  }

  PHYLLO_INLINE void write(State const& state, long row, long column, long rows_before, int warp,
                           int first_lane) const {
    row += warp / Shape::column_warps * Shape::tiles * 16;
    column += warp % Shape::column_warps * Shape::groups * 16;
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Shape::tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < Shape::groups; ++n) {
        for (int i = 0; i < emulated_lanes; ++i) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int part = 0; part < MmaAtom::parts; ++part) {
            int const lane = first_lane + i;
            long const r = row + m * 16 + MmaAtom::sample(lane, part);
            long const c = column + n * 16 + MmaAtom::channel(lane);
            if (r < left.lines && c < right.lines)
              epilogue(rows_before + r, int(c), Accumulator4<MmaAtom>(state.sums[m][n], i, part));
          }
        }
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

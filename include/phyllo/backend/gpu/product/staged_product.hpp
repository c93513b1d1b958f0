// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/backend/gpu/product/chunk_place.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Whether a device copies to scratch memory while it computes.
template <class MmaAtom>
concept copies_chunks = requires { MmaAtom::commit_copies(); };

/// How a block of threads shares its part of a product: RowWarps by ColumnWarps warps, each with
/// Tiles 16s of rows and Groups 16s of columns.
template <int RowWarps, int ColumnWarps, int Tiles, int Groups> struct StagedShape {
  static constexpr int column_warps = ColumnWarps, tiles = Tiles, groups = Groups;
  static constexpr int warps = RowWarps * ColumnWarps;
  static constexpr int rows = RowWarps * Tiles * 16, columns = ColumnWarps * Groups * 16;
  static constexpr int stages = 4;
};

/// epilogue(sums of left right): a product of matrices of 16 bits on matrix cores. A block computes
/// a part of the result in registers, in stages over the depth: chunks of 16 bytes are copied to
/// scratch memory some stages ahead, without passing through registers.
///
/// options  MmaAtom: the matrix instruction · Left, Right: MatrixChunks, WindowChunks, TapsChunks ·
///          Epilogue: takes four columns of a row
/// numerics as matrix_product, in another order inside of 32 depths
/// cost     2 rows columns depth flop; left is read columns / Shape::columns times, right rows /
///          Shape::rows times, mostly from the cache that multiprocessors share. Of scratch memory
///          a warp reads tiles + groups kibibytes a stage, without conflicts of banks
/// source   NVIDIA, CUTLASS, "Efficient GEMM in CUDA" (multistage pipelines)
template <class MmaAtom, class Left, class Right, class Epilogue, class Shape>
struct staged_product {
  using S = typename MmaAtom::storage;
  using Weights = typename MmaAtom::Weights;
  using Values = typename MmaAtom::Values;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes, blocks_of_sums = MmaAtom::blocks;
  static constexpr int warps = Shape::warps, stages = Shape::stages;
  static constexpr int threads = warps * MmaAtom::lanes;
  static constexpr int steps_of_stage = stage_depth / 16;
  static constexpr int left_size = Shape::rows * stage_depth;
  static constexpr int stage_size = left_size + Shape::columns * stage_depth;
  static constexpr int scratch_bytes = stages * stage_size * int(sizeof(S));
  using LeftPlace = ChunkPlace<Shape::rows, Left::along_depth, threads>;
  using RightPlace = ChunkPlace<Shape::columns, Right::along_depth, threads>;

  Left left;
  Right right;
  Epilogue epilogue;
  /// As in matrix_product.
  int depth_parts = 1;

  struct Cursors {
    typename Left::template Cursor<LeftPlace> left;
    typename Right::template Cursor<RightPlace> right;
  };
  struct State {
    typename MmaAtom::Sums sums[Shape::tiles][Shape::groups][blocks_of_sums][emulated_lanes];
  };

  PHYLLO_INLINE static constexpr long parts(long extent, long of) { return (extent + of - 1) / of; }
  PHYLLO_INLINE long results() const {
    return parts(left.lines, Shape::rows) * parts(right.lines, Shape::columns);
  }
  PHYLLO_INLINE long blocks() const { return results() * depth_parts; }

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    auto* const scratch = reinterpret_cast<S*>(team.scratch);
    long const across = parts(right.lines, Shape::columns);
    long const all_steps = parts(left.depth, stage_depth);
    for (long block = team.block(); block < blocks(); block += team.blocks()) {
      int const part = int(block / results()), result = int(block % results());
      long const row = result / across * Shape::rows, column = result % across * Shape::columns;
      long const begin = all_steps * part / depth_parts;
      int const steps = int(all_steps * (part + 1) / depth_parts - begin);
      Cursors cursors[Team::threads_here];
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t;
        cursors[t].left.begin(left, row, begin * stage_depth, LeftPlace(thread));
        cursors[t].right.begin(right, column, begin * stage_depth, RightPlace(thread));
      }
      State states[Team::warps_here] = {};
      for (int s = 0; s < stages - 1; ++s) copy(team, cursors, scratch, s, steps);
      for (int s = 0; s < steps; ++s) {
        MmaAtom::template wait_for_copies<stages - 2>();
        team.barrier();
        copy(team, cursors, scratch, s + stages - 1, steps);
        for (int w = 0; w < Team::warps_here; ++w)
          multiply(states[w], scratch + s % stages * stage_size, team.first_warp() + w,
                   team.first_lane());
      }
      team.barrier();
      for (int w = 0; w < Team::warps_here; ++w)
        write(states[w], row, column, part * left.lines, team.first_warp() + w, team.first_lane());
    }
  }

 private:
  // Starts the copies of stage s, if there is one.
  template <class Team>
  PHYLLO_INLINE void copy(Team const& team, Cursors (&cursors)[Team::threads_here], S* scratch,
                          int s, int steps) const {
    for (int t = 0; s < steps && t < Team::threads_here; ++t) {
      int const thread = team.first_thread() + t;
      S* const to = scratch + s % stages * stage_size;
      copy_chunks(cursors[t].left, left, LeftPlace(thread), to);
      copy_chunks(cursors[t].right, right, RightPlace(thread), to + left_size);
    }
    MmaAtom::commit_copies();
  }
  template <class Cursor, class Operand, class Place>
  PHYLLO_INLINE static void copy_chunks(Cursor& cursor, Operand const& operand, Place const& place,
                                        S* to) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < Place::count; ++i)
      MmaAtom::copy_chunk(to + Place::at(place.row + i * Place::between, place.part),
                          cursor.at(operand, i), operand.data);
    cursor.advance(operand);
  }

  PHYLLO_INLINE void multiply(State& state, S const* scratch, int warp, int first_lane) const {
    int const first_row = warp / Shape::column_warps * Shape::tiles * 16;
    int const first_column = warp % Shape::column_warps * Shape::groups * 16;
    Values values[Shape::tiles][steps_of_stage][emulated_lanes];
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Shape::tiles; ++m)
      read_values(values[m], scratch, first_row + 16 * m, first_lane);
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < Shape::groups; ++n) {
      Weights weights[steps_of_stage][blocks_of_sums][emulated_lanes];
      read_weights(weights, scratch + left_size, first_column + 16 * n, first_lane);
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < steps_of_stage; ++k) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int m = 0; m < Shape::tiles; ++m) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int b = 0; b < blocks_of_sums; ++b)
            MmaAtom::multiply(state.sums[m][n][b], values[m][k], weights[k][b]);
        }
      }
    }
  }

  // 16 rows of the stage. Rows in scratch memory are read as chunks of 8 depths, which are the
  // lane's in two instructions; columns are transposed on the way.
  PHYLLO_INLINE static void read_values(Values (&values)[steps_of_stage][emulated_lanes],
                                        S const* scratch, int row, int first_lane) {
    if constexpr (Left::along_depth) {
      for (int i = 0; i < emulated_lanes; ++i) {
        int const lane = first_lane + i;
        PHYLLO_UNROLL_ON_DEVICE
        for (int p = 0; p < MmaAtom::parts; ++p) {
          auto const chunk = MmaAtom::chunk(
              scratch + LeftPlace::at(row + MmaAtom::sample(lane, p), lane % LeftPlace::parts));
          PHYLLO_UNROLL_ON_DEVICE
          for (int k = 0; k < steps_of_stage; ++k) MmaAtom::put(values[k][i], p, chunk.half[k]);
        }
      }
    } else {
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < steps_of_stage; ++k) {
        S const* at[emulated_lanes];
        for (int i = 0; i < emulated_lanes; ++i) {
          int const lane = first_lane + i;  // says where row lane % 8 of matrix lane / 8 is
          at[i] = scratch +
                  LeftPlace::at(depth_of_slot(k, lane % 8 + lane / 16 * 8), row / 8 + lane / 8 % 2);
        }
        MmaAtom::transposed(values[k], at);
      }
    }
  }
  // 16 columns of the stage, in the order of `write`.
  PHYLLO_INLINE static void read_weights(
      Weights (&weights)[steps_of_stage][blocks_of_sums][emulated_lanes], S const* scratch,
      int column, int first_lane) {
    if constexpr (Right::along_depth) {
      for (int i = 0; i < emulated_lanes; ++i) {
        int const lane = first_lane + i;
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < blocks_of_sums; ++b) {
          auto const chunk =
              MmaAtom::chunk(scratch + RightPlace::at(column + MmaAtom::weight_output(lane, b),
                                                      lane % RightPlace::parts));
          PHYLLO_UNROLL_ON_DEVICE
          for (int k = 0; k < steps_of_stage; ++k)
            weights[k][b][i] = MmaAtom::weights(chunk.half[k]);
        }
      }
    } else {
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < steps_of_stage; ++k) {
        S const* at[emulated_lanes];
        for (int i = 0; i < emulated_lanes; ++i) {
          int const lane = first_lane + i;
          at[i] = scratch + RightPlace::at(depth_of_slot(k, lane % 16), column / 8 + lane / 16);
        }
        MmaAtom::transposed(weights[k], at);
      }
    }
  }

  PHYLLO_INLINE void write(State& state, long row, long column, long rows_before, int warp,
                           int first_lane) const {
    row += warp / Shape::column_warps * Shape::tiles * 16;
    column += warp % Shape::column_warps * Shape::groups * 16;
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Shape::tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < Shape::groups; ++n) {
        // Columns that were side by side in scratch memory are so in pairs of the lanes.
        if constexpr (!Right::along_depth) MmaAtom::gather_fours(state.sums[m][n]);
        for (int i = 0; i < emulated_lanes; ++i) {
          int const lane = first_lane + i;
          PHYLLO_UNROLL_ON_DEVICE
          for (int part = 0; part < MmaAtom::parts; ++part) {
            long const r = row + m * 16 + MmaAtom::sample(lane, part);
            long const c =
                column + n * 16 +
                (Right::along_depth ? MmaAtom::channel(lane) : MmaAtom::gathered_channel(lane));
            if (r < left.lines && c < right.lines)
              epilogue(rows_before + r, int(c), Accumulator4<MmaAtom>(state.sums[m][n], i, part));
          }
        }
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

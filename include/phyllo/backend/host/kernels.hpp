// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/register_block.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/op/kernel_traits.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::host {

/// Kernels for processors: tiles of samples in the first-level cache, sums in vector registers.
template <class Op, class Precision> struct Kernels;

/// Pieces that a batch is cut into: one for each thread, but none smaller than a tile; or as many
/// shards as the caller wants, however small.
template <class Space> int pieces_of(Space const& exec, long batch, int rows, int shards) {
  if (shards > 0) return int(batch < shards ? batch : shards);
  long const tiles = (batch + rows - 1) / rows;
  return int(tiles < exec.concurrency() ? tiles : exec.concurrency());
}

/// Where piece i of `pieces` begins, to which whole units of a count are dealt out.
constexpr long piece_begin(long count, long unit, long i, long pieces) {
  long const at = (count + unit - 1) / unit * i / pieces * unit;
  return at < count ? at : count;
}

/// Work items for so many pieces, at most one for each thread and slice of work memory: what a
/// piece leaves in a slice is in the cache of the thread that computes the next one.
template <class Space> int workers_of(Space const& exec, int pieces, int slices) {
  int const most = exec.concurrency() < slices ? int(exec.concurrency()) : slices;
  return pieces < most ? pieces : most;
}

/// run(piece) for each piece of a worker.
template <class Run> void each_piece(int worker, int workers, int pieces, Run const& run) {
  int const last = int(long(pieces) * (worker + 1) / workers);
  for (int piece = int(long(pieces) * worker / workers); piece < last; ++piece) run(piece);
}

/// Pieces that rows are cut into where every row is computed by itself: one for each thread, but
/// none of fewer numbers than take longer than it takes to start a thread.
template <class Space> int worthy_pieces(Space const& exec, long rows, int channels) {
  constexpr long worth_a_thread = 8192;
  long count = rows * channels / worth_a_thread;
  if (count > exec.concurrency()) count = exec.concurrency();
  if (count > rows) count = rows;
  return count < 1 ? 1 : int(count);
}

/// Runs functor(0 .. count - 1); one piece of work on the caller's thread.
template <class Space, class Functor>
void launch(Space const& exec, std::string const& label, int count, Functor const& functor) {
  if (count == 1)
    run_here(exec, label, 1, functor);
  else
    Kokkos::parallel_for(launch_label(label), Kokkos::RangePolicy<Space>(exec, 0, count), functor);
}

}  // namespace phyllo::inline PHYLLO_ISA::host

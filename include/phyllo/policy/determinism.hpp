// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// A batch is divided into one part for each thread, so the last bits of gradients depend on the
/// number of threads.
///
/// numerics the same bits for the same number of threads and ranks; other numbers of them add the
///          same samples in another order
/// cost     none: the reference for that of Reproducible
struct Fastest {
  static constexpr int shards = 0;
};

/// The global batch is divided into Shards contiguous parts. Each is computed as a batch of its
/// own, and their gradients are added in a fixed tree: bitwise equal for any number of threads and,
/// with a ShardCommunication, of ranks. The result of a sample does not depend on its index in a
/// batch.
///
/// options  Shards: parts of a batch; a multiple of the numbers of threads and ranks keeps all of
///          them busy
/// errors   compile: no shards or more than 256; a policy over ranks that adds in an order of its
///          own; BatchNorm<Statistics::Global>. run: a batch that ranks have not split by
///          reproducible_range -> Error on all
/// numerics statistics of a batch normalisation are those of a shard. Other vector widths, another
///          device or another value of Shards give other bits.
/// cost     a shard of few samples does not fill a tile
template <int Shards = 12> struct Reproducible {
  static_assert(Shards > 0, "Reproducible<Shards>: Shards must be 1 or more.");
  static_assert(Shards <= 256, "Reproducible<Shards>: Shards must be at most 256.");
  static constexpr int shards = Shards;

  /// The first sample of a shard; that of shard number `Shards` is the end of the batch.
  static constexpr long begin(long global_batch, int shard) {
    return global_batch * shard / Shards;
  }
  /// The first shard of a rank. Ranks have whole shards, in order.
  static constexpr int first_shard(int rank, int ranks) { return int(long(Shards) * rank / ranks); }
};

/// Samples [first, second) of a global batch that belong to rank `rank` of `ranks` under
/// Reproducible; an extent for Kokkos::subview.
template <class Determinism = Reproducible<>>
constexpr std::pair<long, long> reproducible_range(long global_batch, int rank, int ranks) {
  return {Determinism::begin(global_batch, Determinism::first_shard(rank, ranks)),
          Determinism::begin(global_batch, Determinism::first_shard(rank + 1, ranks))};
}

}  // namespace phyllo::inline PHYLLO_ISA

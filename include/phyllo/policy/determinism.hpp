// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace phyllo {

/// A batch is cut into one piece for each thread: the last bits of gradients depend on how many
/// there are.
struct Fastest {
  static constexpr int shards = 0;
};

/// A batch is cut into Shards pieces, whose gradients are added in a fixed tree: the same bits with
/// any number of threads. A sample's result does not depend on its place in a batch.
///
/// options  Shards: pieces of a batch; a multiple of the thread counts in use keeps all of them
/// busy cost     a piece of few samples fills no tile
template <int Shards = 12> struct Reproducible {
  static_assert(Shards > 0, "Reproducible<Shards>: a batch is cut into at least one piece.");
  static constexpr int shards = Shards;
};

}  // namespace phyllo

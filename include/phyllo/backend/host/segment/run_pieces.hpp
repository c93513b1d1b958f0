// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/core/external_tensor.hpp>

#include <cstring>
#include <string>

namespace phyllo::inline PHYLLO_ISA::host {

/// One work item of as many as pieces: one run of parameters, the rows of the pieces added as a
/// binary tree.
template <class A> struct sum_pieces {
  A* partial = nullptr;    // (pieces, count)
  A* gradients = nullptr;  // (count)
  int count = 0;
  int pieces = 1;

  void operator()(int item) const {
    int const first = int(long(count) * item / pieces),
              last = int(long(count) * (item + 1) / pieces);
    for (int width = 1; width < pieces; width *= 2)
      for (int p = 0; p + width < pieces; p += 2 * width) {
        A* const to = partial + long(p) * count;
        A const* const from = partial + long(p + width) * count;
        for (int i = first; i < last; ++i) to[i] += from[i];
      }
    std::memcpy(gradients + first, partial + first, sizeof(A) * std::size_t(last - first));
  }
};

/// A whole batch in pieces of at least a tile, each with a row of gradients of its own; the rows
/// are summed into `gradients`.
template <class Functor, class Space, class Work, class A>
void run_pieces(Space const& exec, std::string const& label, Work const& work,
                ExternalTensor const& source, A* gradients) {
  int pieces = pieces_of(exec, work.forward.batch, Functor::tile_size, work.forward.shards);
  if (pieces > work.rows) pieces = work.rows;
  if (pieces == 0) pieces = 1;  // an empty batch has gradients of zero
  int const workers = workers_of(exec, pieces, work.forward.memory.slices);
  launch(exec, label, workers, Functor{work, source, pieces, workers});
  if (pieces > 1)
    launch(exec, label, pieces,
           sum_pieces<A>{work.partial, gradients, work.parameter_count, pieces});
}

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/fit_options.hpp>
#include <phyllo/fit/from_first_batch.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Loss and accuracy over one epoch of batches, in inference mode, over the samples of all ranks;
/// every rank calls it. The batches are those of epoch 0; their position is afterwards as before.
///
/// threads  as Trainer
/// errors   run: those of Trainer::evaluate and of the source
/// numerics means over the samples, or over the positions that the loss counts, in double
/// cost     one sum over ranks for each batch
template <class T, class In, class Out, class Space>
Evaluation evaluate(T& trainer, Batches<In, Out, Space>& batches) {
  detail::FromFirstBatch const kept(batches);
  Evaluation all;
  for (auto const& batch : batches.epoch(0)) {
    Evaluation const part = trainer.evaluate(batch.inputs, batch.targets);
    if (part.weight == 0) continue;  // a batch without a position that counts has no mean
    all.loss += part.loss * part.weight;
    all.accuracy += part.accuracy * part.weight;
    all.weight += part.weight;
  }
  all.loss /= all.weight;
  all.accuracy /= all.weight;
  all.samples = long(all.weight);
  return all;
}
template <class T, class In, class Out>
Evaluation evaluate(T& trainer, HeldOut<In, Out> const& held_out) {
  return trainer.evaluate(held_out.inputs, held_out.targets);
}

}  // namespace phyllo::inline PHYLLO_ISA

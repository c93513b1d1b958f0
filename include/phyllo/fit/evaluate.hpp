// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/data/batches.hpp>
#include <phyllo/fit/fit_options.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Loss and accuracy over one epoch of batches, in inference mode, over the samples of all ranks;
/// every rank calls it. Batches with `shuffle = false` need not be positioned anew.
///
/// threads  as Trainer
/// errors   run: those of Trainer::evaluate and of the source
/// numerics means of the batches, weighted by their samples, in double
/// cost     one sum over ranks for each batch
template <class T, class In, class Out, class Space>
Evaluation evaluate(T& trainer, Batches<In, Out, Space>& batches) {
  if (batches.options().shuffle || batches.position().step != 0) batches.seek({0, 0});
  Evaluation all;
  for (auto const& batch : batches.epoch(batches.position().epoch)) {
    Evaluation const part = trainer.evaluate(batch.inputs, batch.targets);
    all.loss += part.loss * double(part.samples);
    all.accuracy += part.accuracy * double(part.samples);
    all.samples += part.samples;
  }
  all.loss /= double(all.samples);
  all.accuracy /= double(all.samples);
  return all;
}
template <class T, class In, class Out>
Evaluation evaluate(T& trainer, HeldOut<In, Out> const& held_out) {
  return trainer.evaluate(held_out.inputs, held_out.targets);
}

}  // namespace phyllo::inline PHYLLO_ISA

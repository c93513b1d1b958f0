// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/phyllo.hpp>

#include "../../tests/networks/readme.hpp"

using Net = LeNet;

void train(Kokkos::View<float**> inputs, Kokkos::View<int*> targets) {
  Kokkos::DefaultExecutionSpace exec;
  phyllo::Trainer<Net, phyllo::CrossEntropy, phyllo::Sgd> trainer(exec, {.rate = 0.1f},
                                                                  {.batch = 64});
  trainer.step(inputs, targets);
  phyllo::Evaluation const evaluation = trainer.evaluate(inputs, targets);
  if (evaluation.samples == 0) phyllo::save(exec, trainer.model(), "weights.safetensors");
}

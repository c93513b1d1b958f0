// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pass a View of targets, or no_targets for a loss of the outputs alone

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<3>, Linear<5>> {};

void train(Kokkos::View<float**> x) {
  Kokkos::DefaultExecutionSpace exec;
  Trainer<Net, MeanSquaredError, Sgd> trainer(exec, Sgd{});
  trainer.step(x, no_targets);
}

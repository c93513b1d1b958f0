// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Losses: one output has two losses, and another has none

#include <phyllo/layer/linear.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/train/trainer.hpp>

using namespace phyllo;
struct energy;
struct force;
struct Net : Network<Input<3>, Linear<5>, Output<energy>, Linear<2>, Output<force>> {};
using Both = Losses<On<energy, MeanSquaredError>, On<energy, MeanSquaredError>>;

int main() {
  Trainer<Net, Both, Sgd> const trainer(Kokkos::DefaultExecutionSpace{}, Sgd{});
  return int(trainer.steps());
}

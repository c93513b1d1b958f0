// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Trainer: the fourth argument is no precision policy

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  Trainer<Net, MeanSquaredError, Sgd, Local> trainer(exec, {.rate = 0.1});
  Kokkos::View<float**> const x("x", 8, 4), y("y", 8, 2);
  trainer.step(x, y);
  return trainer.loss() > 1;
}

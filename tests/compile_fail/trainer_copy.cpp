// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: deleted
// position: Trainer: its parts refer to each other

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  using T = Trainer<Net, MeanSquaredError, Sgd>;
  T const trainer(exec, {.rate = 0.1f});
  [[maybe_unused]] T const copy = trainer;
}

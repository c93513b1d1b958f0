// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Optimizer: expected a rule with tensor_sums to keep what it makes of them, got

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Forgetful : Sgd {
  static constexpr int tensor_sums = 1, tensor_numbers = 0;
};
struct Net : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  Model<Net> model(exec);
  Optimizer<Forgetful, Model<Net>> optimizer(exec, model, Forgetful());
}

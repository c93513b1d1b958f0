// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Model: the first argument is no network

#include <phyllo/phyllo.hpp>

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  phyllo::Model<phyllo::Linear<2>> model(exec);
  model.initialize(exec);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Model: the third argument is no Execution

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  Model<Net, Full<float>, Reproducible<4>> model(exec, {.batch = 8});
  model.initialize(exec);
}

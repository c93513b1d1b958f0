// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: deleted
// position: Model: a copy would share memory. Call clone

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  Model<Net> const model(exec);
  [[maybe_unused]] Model<Net> const copy = model;
}

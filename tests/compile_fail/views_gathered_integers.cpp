// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: View: an output's elements must be floating-point numbers and not const

#include <phyllo/model/bind.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;

int main() {
  Kokkos::View<int*, Kokkos::HostSpace> const y;
  std::string const name = "Right";
  return bind_output<Space>(gather(y, y), Shape{2}, {name}).variables;
}

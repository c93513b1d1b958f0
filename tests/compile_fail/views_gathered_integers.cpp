// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: View: an output's elements must be floating-point numbers and not const

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
struct Right : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::View<int*, Kokkos::HostSpace> const y;
  return BoundPorts<Right>::bind_outputs<Space>(gather(y, y), "Right").batch;
}

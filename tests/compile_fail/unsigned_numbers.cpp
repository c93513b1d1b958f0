// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: View: numbers of an input are no unsigned integers of 32 or 64 bits, which would be read
// as signed ones. Use a View of float, double or int

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
struct Net : Network<Input<3>, Linear<2>> {};

int main() {
  Kokkos::View<unsigned**, Kokkos::HostSpace> const x;
  return BoundPorts<Net>::bind_inputs<Space>(x, "Net").batch;
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Model: expected a Kokkos::View, gather\(view, ...\) or channels_last\(view\)

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/network/network.hpp>

#include <vector>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
struct Net : Network<Input<2>, Linear<1>> {};

int main() {
  std::vector<float> const x(2);
  return BoundPorts<Net>::bind_inputs<Space>(x, "Net").batch;
}

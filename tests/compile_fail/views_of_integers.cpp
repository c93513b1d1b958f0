// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Model: an IntegerInput takes a View of integers

#include <phyllo/layer/embedding.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
struct Wrong : Network<IntegerInput<4>, Embedding<10, 3>> {};

int main() {
  Kokkos::View<float**, Kokkos::HostSpace> const x;
  return BoundPorts<Wrong>::bind_inputs<Space>(x, "Wrong").batch;
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Model: integers have no gradient. Pass tensors\(named<tag>\(view\), ...\) with the other
// inputs

#include <phyllo/layer/embedding.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
struct Wrong : Network<IntegerInput<4>, Embedding<10, 3>> {};

int main() {
  Kokkos::View<float**, Kokkos::HostSpace> const d_x;
  return BoundPorts<Wrong>::bind_input_gradients<Space>(d_x, "Wrong").batch;
}

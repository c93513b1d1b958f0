// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: tensors: a View has no name

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::HostSpace>;
struct a;
struct b;
struct Two : Network<NamedInput<a, 2>, NamedInput<b, 2>, ConcatFrom<a>, Linear<1>> {};

int main() {
  Matrix const x;
  return BoundPorts<Two>::bind_inputs<Space>(tensors(named<a>(x), x), "Two").batch;
}

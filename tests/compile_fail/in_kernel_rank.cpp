// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: an argument is neither a number nor indexed by one integer

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Rate : Network<Input<4>, Linear<2>> {};

int main() {
  InKernel<Rate, Full<float>> const closure;
  return int(closure(Kokkos::View<float**, Kokkos::HostSpace>("x", 1, 4))[0]);
}

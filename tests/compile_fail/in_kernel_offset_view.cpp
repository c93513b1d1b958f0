// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: an argument is neither a number nor indexed by one integer

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

#include <Kokkos_OffsetView.hpp>

using namespace phyllo;
struct Rate : Network<Input<4>, Linear<2>> {};

int main() {
  InKernel<Rate, Full<float>> const closure;
  Kokkos::Experimental::OffsetView<float*, Kokkos::HostSpace> const x("x", {-1, 2});
  return int(closure(x)[0]);
}

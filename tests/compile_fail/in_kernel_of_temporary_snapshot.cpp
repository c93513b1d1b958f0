// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: the Snapshot is a temporary

#include <phyllo/in_kernel/snapshot.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Rate : Network<Input<2>, Linear<1>> {};

using Space = Kokkos::DefaultExecutionSpace;
Snapshot<Rate, Full<float>, Space> frozen(Space const& exec);
InKernel<Rate, Full<float>> rate(Space const& exec) { return frozen(exec).in_kernel(); }

int main() {}

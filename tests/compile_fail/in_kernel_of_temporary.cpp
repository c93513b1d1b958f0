// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: the Model is a temporary

#include <phyllo/layer/linear.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Rate : Network<Input<2>, Linear<1>> {};

Model<Rate> make(Kokkos::DefaultExecutionSpace const& exec);
InKernel<Rate, Full<float>> rate(Kokkos::DefaultExecutionSpace const& exec) {
  return make(exec).in_kernel();
}

int main() {}

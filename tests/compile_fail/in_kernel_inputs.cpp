// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: expected as many inputs as the network has, in their order

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Rate : Network<Input<2>, Linear<1>> {};

int main() {
  InKernel<Rate, Full<float>> const closure;
  float const rate = closure(1.0f, 2.0f);
  return int(rate);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: an argument is one number, and the network.s input or output has several

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Rate : Network<Input<4>, Linear<2>> {};

int main() {
  InKernel<Rate, Full<float>> const closure;
  return int(closure(1.0f)[0]);
}

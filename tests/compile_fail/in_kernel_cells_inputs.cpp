// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: a call with Cells requires Cells for each input of the network, in their order

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct left;
struct right;
struct Sum : Network<NamedInput<left, 4>, NamedInput<right, 2>, Linear<4>, AddFrom<left>> {};

int main() {
  InKernel<Sum, Full<float>> const closure;
  return int(closure(Cells<float, 3, 8>{})(0, 0));
}

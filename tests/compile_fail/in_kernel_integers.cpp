// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: the network has an IntegerInput, which calls inside kernels do not take. Call
// infer, or begin the network behind its Embedding

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/embedding.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Wrong : Network<IntegerInput<4>, Embedding<10, 3>, Flatten> {};

int main() {
  InKernel<Wrong, Full<float>> const closure;
  int const words[4] = {};
  auto const y = closure(words);
  return int(y[0]);
}

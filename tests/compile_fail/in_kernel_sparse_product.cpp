// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: in_kernel: the network has a SparseProduct or a GraphConvolution, whose matrix mixes
// samples. Call infer for all nodes of the graph

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/layer/sparse_product.hpp>
#include <phyllo/network/network.hpp>
#include <phyllo/policy/precision.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, SparseProduct<>> {};

int main() {
  InKernel<Wrong, Full<float>> const closure;
  float const x[4] = {};
  auto const y = closure(x);
  return int(y[0]);
}

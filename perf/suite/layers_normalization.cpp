// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalisation and softmax, one by one.

#include "layer_cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using namespace perf;
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_layer<P, Network<Input<64, 28, 28>, BatchNorm<>>>(c, cases, "BatchNorm", 32);
    add_layer<P, Network<Input<512>, LayerNorm<>>>(c, cases, "LayerNorm", 2048);
    add_layer<P, Network<Input<512>, RMSNorm<>>>(c, cases, "RMSNorm", 2048);
    add_layer<P, Network<Input<64, 28, 28>, GroupNorm<8>>>(c, cases, "GroupNorm", 32);
    add_layer<P, Network<Input<64, 28, 28>, InstanceNorm<>>>(c, cases, "InstanceNorm", 32);
    add_layer<P, Network<Input<64, 28, 28>, LocalResponseNorm<5>>>(c, cases, "LocalResponseNorm",
                                                                   32);
    add_layer<P, Network<Input<512>, Softmax>>(c, cases, "Softmax", 2048);
    add_layer<P, Network<Input<512>, LogSoftmax>>(c, cases, "LogSoftmax", 2048);
    add_layer<P, Network<Input<64, 28, 28>, SoftmaxOver<Axis::height>>>(c, cases, "Softmax of rows",
                                                                        32);
    return serve("layers-normalization", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

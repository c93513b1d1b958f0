// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers whose work is a product of matrices, one by one.

#include "layer_cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using namespace perf;
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_layer<P, Network<Input<512>, Linear<512>>>(c, cases, "Linear", 2048);
    add_layer<P, Network<Input<64, 128>, Linear<64, PerPosition>>>(c, cases, "Linear of positions",
                                                                   64);
    add_layer<P, Network<Input<64, 256>, Conv1d<64, Padding<1>>>>(c, cases, "Conv1d", 32);
    add_layer<P, Network<Input<64, 28, 28>, Conv2d<64, Padding<1>>>>(c, cases, "Conv2d", 16);
    add_layer<P, Network<Input<16, 16, 16, 16>, Conv3d<16, Padding<1>>>>(c, cases, "Conv3d", 8);
    add_layer<P, Network<Input<64, 28, 28>, Conv2d<64, Padding<1>, ChannelGroups<64>>>>(
        c, cases, "depthwise Conv2d", 16);
    add_layer<
        P, Network<Input<64, 14, 14>, ConvTranspose2d<32, KernelSize<4>, Stride<2>, Padding<1>>>>(
        c, cases, "ConvTranspose2d", 16);
    add_layer<P, Network<Input<32, 32, 32>, SpectralConv2d<32, Modes<8, 8>>>>(c, cases,
                                                                              "SpectralConv2d", 16);
    add_layer<P, Network<Input<64>, SparseProduct<>>>(c, cases, "SparseProduct", 4096);
    add_layer<P, Network<Input<64>, GraphConvolution<64>>>(c, cases, "GraphConvolution", 4096);
    return serve("layers-products", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pooling and reductions, one by one.

#include "layer_cases.hpp"

namespace {
using namespace perf;
struct pooled;
}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using namespace perf;
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_layer<P, Network<Input<64, 56, 56>, MaxPool2d<3, Stride<2>, Padding<1>>>>(
        c, cases, "MaxPool2d 3s2", 8);
    add_layer<P, Network<Input<64, 56, 56>, MaxPool2d<2>>>(c, cases, "MaxPool2d 2", 8);
    add_layer<P, Network<Input<64, 56, 56>, AveragePool2d<3, Stride<2>, Padding<1>>>>(
        c, cases, "AveragePool2d 3s2", 8);
    add_layer<P, Network<Input<64, 56, 56>, AveragePool2d<2>>>(c, cases, "AveragePool2d 2", 8);
    add_layer<P, Network<Input<64, 56, 56>, LpPool2d<2, 2>>>(c, cases, "LpPool2d", 8);
    add_layer<P, Network<Input<64, 56, 56>, AdaptiveAveragePool2d<7>>>(c, cases,
                                                                       "AdaptiveAveragePool2d", 8);
    add_layer<P, Network<Input<64, 56, 56>, AdaptiveMaxPool2d<7>>>(c, cases, "AdaptiveMaxPool2d",
                                                                   8);
    add_layer<P, Network<Input<512, 7, 7>, GlobalAveragePool>>(c, cases, "GlobalAveragePool", 64);
    add_layer<P, Network<Input<64, 28, 28>, Max<Axis::channels>>>(c, cases, "Max of channels", 32);
    add_layer<P, Network<Input<64, 28, 28>, Mean<Axis::channels>>>(c, cases, "Mean of channels",
                                                                   32);
    add_layer<P, Network<Input<64, 28, 28>, Sum<Axis::height, Axis::width>>>(
        c, cases, "Sum of positions", 32);
    add_layer<
        P, Network<Input<64, 28, 28>, Save<pooled>, MaxPool2d<2>, Combine<MaxUnpool2d<2>, pooled>>>(
        c, cases, "MaxPool2d and MaxUnpool2d", 32);
    return serve("layers-pooling", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

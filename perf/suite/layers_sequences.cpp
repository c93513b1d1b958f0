// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers of sequences, one by one.

#include "layer_cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using namespace perf;
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_layer<P, Network<Input<64, 64>, RNN<64>>>(c, cases, "RNN", 64);
    add_layer<P, Network<Input<64, 64>, LSTM<64>>>(c, cases, "LSTM", 64);
    add_layer<P, Network<Input<64, 64>, GRU<64>>>(c, cases, "GRU", 64);
    add_layer<P, Network<Input<64, 128>, MultiheadAttention<4>>>(c, cases, "MultiheadAttention",
                                                                 32);
    add_layer<P, Network<IntegerInput<128>, Embedding<10000, 64>>, 10000>(c, cases, "Embedding",
                                                                          64);
    return serve("layers-sequences", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

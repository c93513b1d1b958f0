// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "pattern_training.hpp"

#include "../../examples/networks/resnet.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using Net = networks::ResNet50<1, 120, 85, 27>;
    // Compared are the weights of the last layer.
    return perf::serve_pattern_training<Net, P>("resnet50-train", dtype, 8, 27 * 2048);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

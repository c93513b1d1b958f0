// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "pattern_training.hpp"

#include "../../examples/networks/alexnet.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using Net = networks::AlexNet<1, 120, 85, 27>;
    return perf::serve_pattern_training<Net, P>("alexnet-train", dtype);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

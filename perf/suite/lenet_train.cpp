// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    constexpr long batch = perf::batch_of(128, 4096);
    auto const labels =
        perf::filled<perf::Vector<int>>("labels", [](std::size_t n) { return n * 7 % 10; }, batch);
    return perf::serve(
        "lenet-train", perf::backend_of<perf::LeNet, P>(), dtype, c,
        perf::training_cases<perf::LeNet, phyllo::CrossEntropy, P>(c, batch, labels));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

#include "../../examples/networks/resnet.hpp"

using Net = networks::ResNet50<1, 120, 85, 27>;

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    constexpr long batch = perf::batch_of(8, 256);
    auto const labels =
        perf::filled<perf::Vector<int>>("labels", [](std::size_t n) { return n * 7 % 27; }, batch);
    return perf::serve("resnet50-train", perf::backend_of<Net, P>(), dtype, c,
                       {perf::training_case<Net, phyllo::CrossEntropy, P>(
                           c, batch, labels, batch < 8 ? batch : 8, 27 * 2048)});
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

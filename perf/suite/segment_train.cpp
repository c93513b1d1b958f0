// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

#include "../../examples/networks/unet.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using Net = networks::UNet<16, 128, 128, 3, 32, 64, 128>;
    auto const c = perf::measure_ceilings();
    constexpr long batch = perf::batch_of(4, 64);
    using Labels = Kokkos::View<int***, Kokkos::LayoutRight, perf::Space>;
    auto const labels =
        perf::filled<Labels>("labels", [](std::size_t i) { return i * 7 % 3; }, batch, 128, 128);
    return perf::serve("segment-train", perf::backend_of<Net, P>(), dtype, c,
                       {perf::training_case<Net, phyllo::CrossEntropy, P>(c, batch, labels, 1)});
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

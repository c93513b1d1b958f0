// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

#include "../../examples/networks/contact_map_autoencoder.hpp"

struct Net : networks::ContactMapAutoencoder<128, 128, 3> {};

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    constexpr long batch = perf::batch_of(32, 1024);
    // A fifth of all pairs touch.
    auto const maps = perf::filled<perf::Matrix<float>>(
        "maps", [](std::size_t i) { return phyllo::random_uniform(3, 0, 0, i, 0) < 0.2f; }, batch,
        Net::input.size());
    return perf::serve("cvae-train", perf::backend_of<Net, P>(), dtype, c,
                       {perf::training_case<Net, networks::ContactMapLoss, P>(c, batch, maps, 2)});
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

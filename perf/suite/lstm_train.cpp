// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A training step of an LSTM over 64 times, which forecasts from its last output.

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    using Net = perf::LstmForecast;
    constexpr long batch = perf::batch_of(256, 16384);
    auto const targets = perf::random_matrix<float>("targets", batch, Net::output.size(), 3);
    return perf::serve("lstm-train", perf::backend_of<Net, P>(), dtype, c,
                       perf::training_cases<Net, phyllo::MeanSquaredError, P>(c, batch, targets));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

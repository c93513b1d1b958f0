// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    using Net = perf::EncoderLayer;
    constexpr long batch = perf::batch_of(64, 512);
    auto const targets = perf::random_matrix<float>("targets", batch, Net::output.size(), 3);
    // Rounding moves a few of 32,768 numbers of a sample to the other side of ReLU; of one sample
    // none.
    return perf::serve("attention-train", perf::backend_of<Net, P>(), dtype, c,
                       perf::training_case<Net, phyllo::MeanSquaredError, P>(c, batch, targets, 1));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

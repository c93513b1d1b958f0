// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    constexpr long batch = perf::batch_of(16384, 1 << 18);
    auto const targets = perf::random_matrix<float>("targets", batch, perf::Mlp::output.size(), 3);
    return perf::serve(
        "mlp-train", perf::backend_of<perf::Mlp, P>(), dtype, c,
        perf::training_cases<perf::Mlp, phyllo::MeanSquaredError, P>(c, batch, targets));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

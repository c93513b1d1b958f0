// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    constexpr long batch = perf::batch_of(4096, 16384);
    auto const targets =
        perf::random_matrix<float>("targets", batch, perf::WideMlp::output.size(), 3);
    return perf::serve(
        "wide-mlp-train", perf::backend_of<perf::WideMlp, P>(), dtype, c,
        perf::training_case<perf::WideMlp, phyllo::MeanSquaredError, P>(c, batch, targets));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

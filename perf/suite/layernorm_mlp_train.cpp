// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    using Net = perf::LayerNormMlp;
    constexpr long batch = perf::batch_of(16384, 1 << 18);
    auto const targets = perf::random_matrix<float>("targets", batch, Net::output.size(), 3);
    // Rounding moves normalised values near zero to the other side of ReLU. This alone changes the
    // gradient of 32 samples by more than the limit of bf16, and averages out over more samples.
    return perf::serve(
        "layernorm-mlp-train", perf::backend_of<Net, P>(), dtype, c,
        perf::training_case<Net, phyllo::MeanSquaredError, P>(c, batch, targets, 8192));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

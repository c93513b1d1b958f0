// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    using Net = perf::TwoHeadLeNet;
    using Loss = phyllo::Losses<phyllo::On<perf::digit, phyllo::CrossEntropy>,
                                phyllo::On<perf::position, phyllo::MeanSquaredError>>;
    constexpr long batch = perf::batch_of(128, 4096);
    auto const digits =
        perf::filled<perf::Vector<int>>("digits", [](std::size_t n) { return n * 7 % 10; }, batch);
    auto const positions = perf::random_matrix<float>("positions", batch, 2, 3);
    auto const targets = phyllo::tensors(phyllo::named<perf::digit>(digits),
                                         phyllo::named<perf::position>(positions));
    return perf::serve("trunk-head-train", perf::backend_of<Net, P>(), dtype, c,
                       perf::training_case<Net, Loss, P>(c, batch, targets));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

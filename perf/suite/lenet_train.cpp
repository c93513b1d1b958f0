// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision(argc, argv, []<class P>(std::string const& dtype) {
    auto const c = perf::measure_ceilings(perf::Space().concurrency());
    Kokkos::View<int*, Kokkos::HostSpace> labels("labels", 128);
    for (int n = 0; n < 128; ++n) labels(n) = n * 7 % 10;
    return perf::serve(
        "lenet-train", perf::backend_of<perf::LeNet, P>(), dtype, c,
        {perf::training_case<perf::LeNet, phyllo::CrossEntropy, P>(c, 128, labels),
         perf::training_case<perf::LeNet, phyllo::CrossEntropy, P, phyllo::Reproducible<>>(
             c, 128, labels)});
  });
}

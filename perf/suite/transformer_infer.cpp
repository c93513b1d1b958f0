// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    using Net = perf::Transformer;
    std::vector<perf::Case> cases;
    for (long const batch : {1l, perf::batch_of(64, 512)})
      cases.push_back(perf::inference_case<Net, P>(c, "", batch));
    return perf::serve("transformer-infer", perf::backend_of<Net, P>(), dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

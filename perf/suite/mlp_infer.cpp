// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = perf::measure_ceilings();
    return perf::serve("mlp-infer", perf::backend_of<perf::Mlp, P>(), dtype, c,
                       perf::inference_case<perf::Mlp, P>(c, "", perf::batch_of(65536, 1 << 20)));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

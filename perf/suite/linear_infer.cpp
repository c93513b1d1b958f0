// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One layer, from one that stays in the first-level cache to one whose weights leave the second.

#include "cases.hpp"

namespace {

using namespace perf;

template <int Width> struct Square : Network<Input<Width>, Linear<Width>> {};

template <class P, int... Width> std::vector<Case> cases_of(Ceilings const& c) {
  return {inference_case<Square<Width>, P>(c, std::to_string(Width), 2048)...};
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    return serve("linear-infer", backend_of<Square<1024>, P>(), dtype, c,
                 cases_of<P, 64, 128, 256, 512, 1024, 2048>(c));
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}

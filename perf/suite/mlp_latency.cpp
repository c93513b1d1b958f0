// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Time of one call on one thread: by the batched call, and by the closure for use inside kernels.
// The floor is the larger of two: every weight comes once from the second-level cache, or from the
// first where all fit; every layer waits for its chain of dependent multiply-adds.

#include "cases.hpp"

namespace {

using namespace perf;

constexpr double first_level_bytes = 32 * 1024;  // smallest of current processors

template <class Net, class P> void set_floor(Case& k, Ceilings const& c) {
  double const bytes = sizeof(typename P::storage) * double(Net::parameter_count);
  double const weights = bytes / (bytes <= first_level_bytes ? 2 * c.l2 : c.l2);
  double const compute = double(k.batch) * k.flops_per_sample / c.fma;
  k.floor_seconds = std::max(weights, compute);
  k.ceiling = weights > compute ? "l2" : "fma";
}

template <class Net, class P>
void add(std::vector<Case>& cases, Ceilings const& c, std::string const& width) {
  for (long const batch : {1, 16, 64}) {
    cases.push_back(inference_case<Net, P>(c, width, batch));
    set_floor<Net, P>(cases.back(), c);
  }
  struct State {
    Space exec;
    Model<Net, P, Execution<Space>> model{exec, {.batch = 1, .seed = 1}};
    Matrix<float> x = random_matrix<float>("x", 1, Net::input.size(), 2);
    Matrix<float> y{"y", 1, std::size_t(Net::output.size())};
  };
  auto const state = std::make_shared<State>();
  Case k = cases[cases.size() - 3];  // batch 1
  k.name = width + " in kernel";
  k.call = [state] {
    auto const values = state->model.in_kernel()(Kokkos::subview(state->x, 0, Kokkos::ALL));
    for (int i = 0; i < values.size(); ++i) state->y(0, i) = values[i];
  };
  k.call();
  Matrix<float> batched("batched", 1, std::size_t(Net::output.size()));
  state->model.infer(state->exec, state->x, batched);
  state->exec.fence("perf");
  k.relative_error = std::max(k.relative_error, relative_error(batched, state->y));
  cases.push_back(k);
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add<Mlp64, P>(cases, c, "64");
    add<Mlp32, P>(cases, c, "32");
    return serve("mlp-latency", backend_of<Mlp64, P>(), dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}

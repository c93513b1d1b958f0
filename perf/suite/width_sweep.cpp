// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks of one width and several depths, PHYLLO_WIDTH wide: a program for each width, so that
// they are compiled at the same time.

#include "cases.hpp"

#include <utility>

namespace {

using namespace perf;

// Depth times Linear, ReLU between them.
template <int Width, int Depth, class... Layers> struct Layered {
  using type = typename Layered<Width, Depth - 1, Linear<Width>, ReLU, Layers...>::type;
};
template <int Width, class... Layers> struct Layered<Width, 1, Layers...> {
  using type = Network<Input<Width>, Layers..., Linear<Width>>;
};

template <int Depth> void add(std::vector<Case>& cases, Ceilings const& c) {
  constexpr int width = PHYLLO_WIDTH;
  using Net = typename Layered<width, Depth>::type;
  using P = Full<float>;
  std::string const name = std::to_string(width) + "x" + std::to_string(Depth);
  cases.push_back(inference_case<Net, P>(c, name + " infer", 16384));
  auto const targets = random_matrix<float>("targets", 8192, width, 3);
  cases.push_back(training_case<Net, MeanSquaredError, P>(c, 8192, targets));
  cases.back().name = name + " train";
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  auto const c = measure_ceilings();
  std::vector<Case> cases;
  add<2>(cases, c);
  add<4>(cases, c);
  add<8>(cases, c);
  // Share of the peak of multiply-adds, also where memory allows less.
  for (Case& k : cases) {
    k.floor_seconds = double(k.batch) * k.flops_per_sample / c.fma;
    k.ceiling = "fma";
  }
  return serve("width-sweep", "openmp", "f32", c, cases);
}

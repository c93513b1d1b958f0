// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Optimizers one by one, on four layers 1024 wide whose gradients are there.

#include "cases.hpp"

namespace {

using namespace perf;

/// A model and its optimizer.
template <class Rule, class P, class Exec> struct UpdatePass {
  using M = Model<WideMlp, P, Exec>;
  typename Exec::space exec;
  M model{exec, {.batch = 1, .seed = 1}};
  Optimizer<Rule, M> optimizer;

  explicit UpdatePass(Rule const& rule) : optimizer(exec, model, rule) {
    auto const gradients = on_host(model.gradients());
    auto const size = model.master().size();
    for (std::size_t i = 0; i < size; ++i)
      gradients(i) = typename P::accumulate(float(2 * random_uniform(2, 0, 0, i, 0) - 1));
    gradients(size) = 1;  // samples
    Kokkos::deep_copy(model.gradients(), gradients);
  }
  void update() {
    optimizer.update(exec, model);
    exec.fence("perf");
  }
};

template <class P, class Rule>
void add_rule(Ceilings const& c, std::vector<Case>& cases, char const* name, Rule const& rule) {
  using Fast = UpdatePass<Rule, P, Execution<Space>>;
  using Slow = UpdatePass<Rule, Full<double>, Reference>;
  auto const pass = std::make_shared<Fast>(rule);
  Slow truth(rule);
  copy_parameters(pass->model.master(), truth.model.parameters());
  if constexpr (Full<double>::has_master)
    copy_parameters(pass->model.master(), truth.model.master());
  auto const size = pass->model.master().size();
  using Numbers = Kokkos::View<double*, Kokkos::HostSpace>;
  Numbers const before("before", size), got("got", size), wanted("wanted", size);
  copy_parameters(pass->model.master(), before);
  pass->update();
  truth.update();
  for (std::size_t i = 0; i < size; ++i) {
    got(i) = double(pass->model.master()(i)) - before(i);
    wanted(i) = double(truth.model.parameters()(i)) - before(i);
  }
  Case k;
  k.name = name;
  k.phase = "training";
  k.batch = long(size);
  k.relative_error = relative_error(wanted, got);
  // The gradient, twice where it is measured first; the rule's numbers and the master there and
  // back; what kernels read.
  k.bytes_per_sample =
      8 + 8.0 * (1 + Rule::states) + (P::has_master ? sizeof(typename P::storage) : 0);
  set_memory_floor(k, c, double(size) * k.bytes_per_sample < cache_bytes);
  k.call = [pass] { pass->update(); };
  cases.push_back(std::move(k));
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_rule<P>(c, cases, "Sgd", Sgd{.rate = 0.01});
    add_rule<P>(c, cases, "Sgd with momentum", Sgd{.rate = 0.01, .momentum = 0.9});
    add_rule<P>(c, cases, "Adam", Adam{});
    add_rule<P>(c, cases, "AdamW", AdamW{});
    add_rule<P>(c, cases, "AmsGrad", AmsGrad{});
    add_rule<P>(c, cases, "NAdam", NAdam{});
    add_rule<P>(c, cases, "RmsProp", RmsProp{});
    add_rule<P>(c, cases, "Adagrad", Adagrad{});
    add_rule<P>(c, cases, "Lion", Lion{.rate = 1e-3});
    // Rates whose changes are above the rounding of the weights.
    add_rule<P>(c, cases, "Lars", Lars{.rate = 2});
    add_rule<P>(c, cases, "Lamb", Lamb{.rate = 0.1});
    return serve("layers-optimizers", "kokkos", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Softmax and cross-entropy alone: values and gradients of logits that are there, by the kernel
// that a Trainer selects.

#include "cases.hpp"

#include <phyllo/loss/cross_entropy.hpp>

namespace {

using namespace perf;

template <class P> Case head_case(Ceilings const& c, int rows, int classes) {
  using S = typename P::storage;
  using Op = op::Loss<CrossEntropy>;
  using Selected = SelectedKernels<Op, P, typename Execution<Space>::backends>;
  struct State {
    Space exec = new_instance();
    std::string label = "softmax head";
    Vector<S> z, d;
    Vector<float> values;
    Vector<int> labels;
    typename Op::template Evaluate<P> work;
  };
  auto const state = std::make_shared<State>();
  auto& s = *state;
  auto const size = std::size_t(rows) * std::size_t(classes);
  s.z = filled<Vector<S>>(
      "logits", [](std::size_t i) { return float(4 * random_uniform(2, 0, 0, i, 0) - 2); }, size);
  s.d = Vector<S>("gradients", size);
  s.values = Vector<float>("values", std::size_t(rows));
  s.labels = filled<Vector<int>>(
      "labels", [classes](std::size_t n) { return float(classes) * random_uniform(3, 0, 0, n, 0); },
      rows);
  s.work.batch = rows;
  s.work.shape = Shape{classes};
  s.work.outputs = s.z.data();
  s.work.targets.data[0] = s.labels.data();
  s.work.targets.type = ElementType::i32;
  s.work.targets.sample_stride = 1;
  s.work.d_outputs = s.d.data();
  s.work.values = s.values.data();
  Selected::run(s.exec, s.label, s.work);
  s.exec.fence("perf");
  auto const logits = on_host(s.z), gradients = on_host(s.d);
  auto const values = on_host(s.values);
  auto const labels = on_host(s.labels);
  double difference = 0, norm = 0;
  int const checked = std::min(rows, 16);
  for (int n = 0; n < checked; ++n) {
    S const* const z = logits.data() + std::size_t(n) * std::size_t(classes);
    S const* const d = gradients.data() + std::size_t(n) * std::size_t(classes);
    double sum = 0;
    for (int k = 0; k < classes; ++k) sum += std::exp(double(z[k]));
    int const label = labels(n);
    auto const add = [&](double wanted, double got) {
      difference += (got - wanted) * (got - wanted);
      norm += wanted * wanted;
    };
    add(std::log(sum) - double(z[label]), double(values(n)));
    for (int k = 0; k < classes; ++k)
      add(std::exp(double(z[k])) / sum - (k == label ? 1 : 0), double(d[k]));
  }
  Case k;
  k.batch = rows;
  k.bytes_per_sample = 2.0 * classes * sizeof(S);  // logits read, gradients written
  k.name = std::to_string(classes) + " classes";
  k.relative_error = std::sqrt(difference / norm);
  set_memory_floor(k, c, double(k.batch) * k.bytes_per_sample < cache_bytes);
  k.call = [state] {
    Selected::run(state->exec, state->label, state->work);
    state->exec.fence("perf");
  };
  return k;
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    using Selected = SelectedBackend<op::Loss<CrossEntropy>, P, Execution<Space>::backends>;
    return serve("softmax-head", Selected::name, dtype, c,
                 {head_case<P>(c, 4096, 10), head_case<P>(c, 512, 32768)});
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adam with clipping by global norm on gradients that are there: unscale, norm, clip, update,
// round.

#include "cases.hpp"

namespace {

using namespace perf;

template <int Width> struct OneLayer : Network<Input<Width>, Linear<Width>> {};

constexpr float largest_norm = 0.5f;

// What a step changes, in float64, by the formulas of the paper.
template <class Gradients>
std::vector<double> updated(Gradients const& gradients, std::size_t size, Adam const& rule) {
  double norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double const g = double(gradients(i));
    norm += g * g;
  }
  double const clip = std::min(1.0, double(largest_norm) / (std::sqrt(norm) + 1e-6));
  std::vector<double> change(size);
  for (std::size_t i = 0; i < size; ++i) {
    // Of the first step the corrected moments are the gradient and its square.
    double const g = clip * double(gradients(i));
    change[i] = -double(rule.rate) * g / (std::sqrt(g * g) + double(rule.epsilon));
  }
  return change;
}

template <class Net, class P> Case update_case(Ceilings const& c) {
  using M = Model<Net, P, Execution<Space>>;
  struct State {
    Space exec = new_instance();
    M model{exec, {.batch = 1, .seed = 1}};
    Adam rule{.rate = 1e-3f};
    Optimizer<Adam, M> optimizer{exec, model, rule, {.clipping = {.largest_norm = largest_norm}}};
  };
  auto const state = std::make_shared<State>();
  auto& s = *state;
  s.exec.fence("perf");
  auto const size = s.model.master().size();
  auto const gradients = on_host(s.model.gradients());
  for (std::size_t i = 0; i < size; ++i)
    gradients(i) = float(2 * random_uniform(2, 0, 0, i, 0) - 1);
  gradients(size) = 1;  // samples
  Kokkos::deep_copy(s.model.gradients(), gradients);
  auto const expected = updated(gradients, size, s.rule);
  auto const master = on_host(s.model.master());
  std::vector<double> before(size);
  for (std::size_t i = 0; i < size; ++i) before[i] = double(master(i));
  s.optimizer.update(s.exec, s.model);
  s.exec.fence("perf");
  auto const after = on_host(s.model.master());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double const wanted = before[i] + expected[i], got = double(after(i));
    difference += (got - wanted) * (got - wanted);
    norm += wanted * wanted;
  }
  Case k;
  k.batch = long(size);
  // The gradient twice; two moments and the master there and back; what kernels read.
  k.bytes_per_sample = 2 * 4 + 3 * 8 + (P::has_master ? sizeof(typename P::storage) : 0);
  k.relative_error = std::sqrt(difference / norm);
  set_memory_floor(k, c, double(size) * (k.bytes_per_sample - 16) < cache_bytes);
  k.call = [state] {
    state->optimizer.update(state->exec, state->model);
    state->exec.fence("perf");
  };
  return k;
}

}  // namespace

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    auto const c = measure_ceilings();
    // 25.6 M parameters as ResNet-50 has, and 50 K.
    return serve("optimizer-step", "kokkos", dtype, c,
                 {update_case<OneLayer<5056>, P>(c), update_case<OneLayer<223>, P>(c)});
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision<Workload>(argc, argv);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Adam with clipping by global norm on gradients that are there: unscale, norm, clip, update,
// round.

#include "cases.hpp"

namespace {

using namespace perf;

template <int Width> struct OneLayer : Network<Input<Width>, Linear<Width>> {};

constexpr float largest_norm = 0.5f;

// A step on a copy in float64, by the formulas of the paper.
template <class M> std::vector<double> updated(M const& model, Adam const& rule) {
  auto const size = model.master().size();
  double norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double const g = double(model.gradients()(i));
    norm += g * g;
  }
  double const clip = std::min(1.0, double(largest_norm) / (std::sqrt(norm) + 1e-6));
  std::vector<double> change(size);
  for (std::size_t i = 0; i < size; ++i) {
    // Of the first step the corrected moments are the gradient and its square.
    double const g = clip * double(model.gradients()(i));
    change[i] = -double(rule.rate) * g / (std::sqrt(g * g) + double(rule.epsilon));
  }
  return change;
}

template <class Net, class P> Case update_case(Ceilings const& c) {
  using M = Model<Net, P, Execution<Space>>;
  struct State {
    Space exec;
    M model{exec, {.batch = 1, .seed = 1}};
    Adam rule{.rate = 1e-3f};
    Optimizer<Adam, M> optimizer{exec, model, rule, {.clipping = {.largest_norm = largest_norm}}};
  };
  auto const state = std::make_shared<State>();
  auto& s = *state;
  auto const size = s.model.master().size();
  auto const gradients = s.model.gradients();
  for (std::size_t i = 0; i < size; ++i)
    gradients(i) = float(2 * random_uniform(2, 0, 0, i, 0) - 1);
  gradients(size) = 1;  // samples
  auto const expected = updated(s.model, s.rule);
  std::vector<double> before(size);
  for (std::size_t i = 0; i < size; ++i) before[i] = double(s.model.master()(i));
  s.optimizer.update(s.exec, s.model);
  s.exec.fence("perf");
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double const wanted = before[i] + expected[i], got = double(s.model.master()(i));
    difference += (got - wanted) * (got - wanted);
    norm += wanted * wanted;
  }
  Case k;
  k.batch = long(size);
  // The gradient twice; two moments and the master there and back; what kernels read.
  k.bytes_per_sample = 2 * 4 + 3 * 8 + (P::has_master ? sizeof(typename P::storage) : 0);
  k.relative_error = std::sqrt(difference / norm);
  set_memory_floor(k, c, double(size) * (k.bytes_per_sample - 16) < second_level_bytes);
  k.call = [state] {
    state->optimizer.update(state->exec, state->model);
    state->exec.fence("perf");
  };
  return k;
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return with_precision(argc, argv, []<class P>(std::string const& dtype) {
    auto const c = measure_ceilings(Space().concurrency());
    // 25.6 M parameters as ResNet-50 has, and 50 K.
    return serve("optimizer-step", "kokkos", dtype, c,
                 {update_case<OneLayer<5056>, P>(c), update_case<OneLayer<223>, P>(c)});
  });
}

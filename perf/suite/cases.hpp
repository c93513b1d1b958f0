// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "networks.hpp"
#include "serve.hpp"

#include <phyllo/backend/reference/reference.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

namespace perf {

using Space = Kokkos::DefaultHostExecutionSpace;
template <class T> using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Reference = Execution<Space, Backends<ReferenceBackend>>;

/// Numbers in [-1, 1) that no two rows share.
template <class T>
Matrix<T> random_matrix(char const* label, long rows, int columns, unsigned seed) {
  Matrix<T> m(label, std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < m.size(); ++i)
    m.data()[i] = T(2 * random_uniform(seed, 0, 0, i, 0) - 1);
  return m;
}

template <class A, class B> double relative_error(A const& expected, B const& got) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = double(expected.data()[i]), d = double(got.data()[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return std::sqrt(difference / norm);
}

/// The same parameters in another precision.
template <class From, class To> void copy_parameters(From const& from, To const& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    to.data()[i] = typename To::value_type(double(from.data()[i]));
}

/// The fastest unit for a precision, whether or not our kernels use it.
template <class P> std::pair<double, std::string> peak_of(Ceilings const& c) {
  if (std::is_same_v<typename P::storage, bf16>) {
    if (c.amx > c.fma && c.amx > c.bf16) return {c.amx, "amx"};
    if (c.bf16 > c.fma) return {c.bf16, "bf16"};
  }
  return {c.fma, "fma"};
}

/// The floor of a call that waits for its bytes: from the second-level cache where they are kept.
inline void set_memory_floor(Case& k, Ceilings const& c, bool in_cache) {
  double const bytes = double(k.batch) * k.bytes_per_sample;
  k.floor_seconds = bytes / (in_cache ? c.l2 * c.threads : c.triad);
  k.ceiling = in_cache ? "l2" : "triad";
}

/// Batched inference by the public call, with the caller's Views of what the network computes in,
/// as its peers have theirs.
template <class Net, class P> Case inference_case(Ceilings const& c, std::string name, long batch) {
  using S = typename P::storage;
  struct State {
    Space exec;
    Model<Net, P, Execution<Space>> model;
    Matrix<S> x, y;
    explicit State(long n)
        : model(exec, {.batch = int(n), .seed = 1}),
          x(random_matrix<S>("x", n, Net::input.size(), 2)),
          y("y", std::size_t(n), std::size_t(Net::output.size())) {}
  };
  auto const state = std::make_shared<State>(batch);
  auto& s = *state;
  long const checked = std::min(batch, 64l);
  Model<Net, Full<double>, Reference> truth(s.exec, {.batch = int(checked)});
  copy_parameters(s.model.parameters(), truth.parameters());
  Matrix<double> expected("expected", std::size_t(checked), std::size_t(Net::output.size()));
  auto const part = std::pair<long, long>(0, checked);
  truth.infer(s.exec, Kokkos::subview(s.x, part, Kokkos::ALL), expected);
  s.model.infer(s.exec, s.x, s.y);
  s.exec.fence("perf");
  Case k;
  k.name = std::move(name);
  k.network = type_name<Net>();
  k.batch = batch;
  k.flops_per_sample = double(Net::flops);
  k.bytes_per_sample = sizeof(S) * double(Net::input.size() + Net::output.size());
  k.relative_error = relative_error(expected, s.y);
  auto const [peak, unit] = peak_of<P>(c);
  double const compute = double(batch) * k.flops_per_sample / peak;
  double const memory = double(batch) * k.bytes_per_sample / c.triad;
  k.floor_seconds = std::max(compute, memory);
  k.ceiling = memory > compute ? "triad" : unit;
  k.call = [state] {
    state->model.infer(state->exec, state->x, state->y);
    state->exec.fence("perf");
  };
  return k;
}

/// A training step by the public call: forward, loss, backward, update.
template <class Net, class L, class P, class Bits = Fastest, class Targets>
Case training_case(Ceilings const& c, long batch, Targets const& targets) {
  using Exec = Execution<Space, typename DefaultBackends<Space>::type, Fusion::tile, Bits>;
  using Fast = Trainer<Net, L, Sgd, P, Local, Exec>;
  using Slow = Trainer<Net, L, Sgd, Full<double>, Local, Reference>;
  Sgd const rule{.rate = 1e-3f, .momentum = 0.9f};
  struct State {
    Space exec;
    Fast trainer;
    Matrix<float> x;
    Targets targets;
    State(Sgd const& r, long n, Targets const& t)
        : trainer(exec, r, {.batch = int(n), .seed = 1}),
          x(random_matrix<float>("x", n, Net::input.size(), 2)),
          targets(t) {}
  };
  Space const exec;
  auto const state = std::make_shared<State>(rule, batch, targets);
  // One step on a few samples against the same in float64: its change of the parameters.
  long const checked = std::min(batch, 32l);
  auto const part = std::pair<long, long>(0, checked);
  auto const few_x = Kokkos::subview(state->x, part, Kokkos::ALL);
  auto const few_targets = [&] {
    if constexpr (Targets::rank == 1)
      return Kokkos::subview(targets, part);
    else
      return Kokkos::subview(targets, part, Kokkos::ALL);
  }();
  Slow truth(exec, rule, {.batch = int(checked)});
  Fast trial(exec, rule, {.batch = int(checked), .seed = 1});
  exec.fence("perf");
  copy_parameters(trial.model().parameters(), truth.model().parameters());
  truth.step(few_x, few_targets);
  trial.step(few_x, few_targets);
  exec.fence("perf");
  Kokkos::View<double*, Kokkos::HostSpace> got("got", trial.model().parameters().size());
  double const scale = double(trial.model().state()().loss_scale);
  for (std::size_t i = 0; i < got.size(); ++i)
    got(i) = double(trial.model().gradients()(i)) / scale;
  auto const wanted = Kokkos::subview(truth.model().gradients(),
                                      std::pair<std::size_t, std::size_t>(0, got.size()));
  Case k;
  if (Bits::shards > 0) k.name = "reproducible";
  k.network = type_name<Net>();
  k.phase = "training";
  k.batch = batch;
  k.flops_per_sample = training_flops<Net>();
  k.bytes_per_sample =
      sizeof(float) * double(Net::input.size() + (L::classes ? 1 : Net::output.size()));
  k.relative_error = relative_error(wanted, got);
  auto const [peak, unit] = peak_of<P>(c);
  double const compute = double(batch) * k.flops_per_sample / peak;
  double const memory = double(batch) * k.bytes_per_sample / c.triad;
  k.floor_seconds = std::max(compute, memory);
  k.ceiling = memory > compute ? "triad" : unit;
  k.call = [state] {
    state->trainer.step(state->x, state->targets);
    state->exec.fence("perf");
  };
  return k;
}

/// Calls `run<P>(dtype)` for the precision that `--dtype` names.
template <class Run> int with_precision(int argc, char* argv[], Run const& run) {
  std::string dtype = "f32";
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--dtype") == 0) dtype = argv[i + 1];
  if (dtype == "f32") return run.template operator()<Full<float>>(dtype);
  if (dtype == "bf16") return run.template operator()<Mixed<bf16, float>>(dtype);
  std::fprintf(stderr, "perf: --dtype is f32 or bf16, got %s.\n", dtype.c_str());
  return 2;
}

/// The backend of the first step, as `explain` names it.
template <class Net, class P> std::string backend_of() {
  using Plan = Planned<Net, Phase::inference, Fusion::segment, sizeof(typename P::storage)>;
  return SelectedBackend<StepOp<Plan, 0>, P, typename Execution<Space>::backends>::name;
}

}  // namespace perf

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "networks.hpp"
#include "serve.hpp"
#include "step_times.hpp"

#include <phyllo/backend/reference/reference.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace perf {

using Space = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;
template <class T> using Vector = Kokkos::View<T*, Space>;
template <class T> using Matrix = Kokkos::View<T**, Kokkos::LayoutRight, Space>;
template <class T> using HostMatrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Reference = Execution<Host, Backends<ReferenceBackend>>;
/// What training is compared with, in double. On a device it is backend portable, because its host
/// takes minutes for one sample of a deep network.
using TrainingReference =
    std::conditional_t<on_device, Execution<Space, Backends<PortableBackend>>, Reference>;

/// An instance of its own, whose work a device's runtime can record.
inline Space new_instance() {
  if constexpr (on_device)
    return Kokkos::Experimental::partition_space(Space(), 1)[0];
  else
    return Space();
}

/// The numbers of a View, for the host.
template <class V> auto on_host(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// A View of what `value(i)` gives for its i-th number.
template <class V, class Value, class... Extent>
V filled(char const* label, Value const& value, Extent... extent) {
  V const view(label, std::size_t(extent)...);
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] = typename V::non_const_value_type(value(i));
  Kokkos::deep_copy(view, host);
  return view;
}

/// Numbers in [-1, 1) that no two rows share.
template <class T>
Matrix<T> random_matrix(char const* label, long rows, int columns, unsigned seed) {
  return filled<Matrix<T>>(
      label, [seed](std::size_t i) { return 2 * random_uniform(seed, 0, 0, i, 0) - 1; }, rows,
      columns);
}

/// Of the numbers that are expected; a device's are there when its instance has been waited for.
template <class A, class B> double relative_error(A const& expected, B const& got_there) {
  auto const got = on_host(got_there);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = double(expected.data()[i]), d = double(got.data()[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return std::sqrt(difference / norm);
}

/// The same parameters in another precision.
template <class From, class To> void copy_parameters(From const& from_there, To const& to_there) {
  auto const from = on_host(from_there);
  auto const to = Kokkos::create_mirror_view(to_there);
  for (std::size_t i = 0; i < from.size(); ++i)
    to.data()[i] = typename To::value_type(double(from.data()[i]));
  Kokkos::deep_copy(to_there, to);
}

/// The floor of a call that waits for its bytes: from a cache where they are kept.
inline void set_memory_floor(Case& k, Ceilings const& c, bool in_cache) {
  Ceiling const ceiling = in_cache ? c.cache() : c.memory();
  k.floor_seconds = double(k.batch) * k.bytes_per_sample / ceiling.rate;
  k.ceiling = ceiling.name;
}

/// The floor of a call that computes and moves bytes at the same time.
inline void set_floor(Case& k, Ceiling const& unit, Ceiling const& memory) {
  double const compute = double(k.batch) * k.flops_per_sample / unit.rate;
  double const bytes = double(k.batch) * k.bytes_per_sample / memory.rate;
  k.floor_seconds = std::max(compute, bytes);
  k.ceiling = bytes > compute ? memory.name : unit.name;
}

/// Batched inference by the public call, with the caller's Views of what the network computes in,
/// as its peers have theirs.
template <class Net, class P> Case inference_case(Ceilings const& c, std::string name, long batch) {
  using S = typename P::storage;
  struct State {
    Space exec = new_instance();
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
  Host const host;
  Model<Net, Full<double>, Reference> truth(host, {.batch = int(checked)});
  s.exec.fence("perf");
  copy_parameters(s.model.parameters(), truth.parameters());
  HostMatrix<double> expected("expected", std::size_t(checked), std::size_t(Net::output.size()));
  auto const part = std::pair<long, long>(0, checked);
  truth.infer(host, on_host(Kokkos::subview(s.x, part, Kokkos::ALL)), expected);
  host.fence("perf");
  s.model.infer(s.exec, s.x, s.y);
  s.exec.fence("perf");
  Case k;
  k.name = std::move(name);
  k.network = type_name<Net>();
  k.batch = batch;
  k.flops_per_sample = double(Net::flops);
  k.bytes_per_sample = sizeof(S) * double(Net::input.size() + Net::output.size());
  k.relative_error = relative_error(expected, s.y);
  set_floor(k, c.template peak<P>(), c.memory());
  k.call = [state] {
    state->model.infer(state->exec, state->x, state->y);
    state->exec.fence("perf");
  };
  return k;
}

/// `several` with one more named View, the first.
template <class First, class... Rest>
Tensors<First, Rest...> prepended(First const& first, Tensors<Rest...> const& several) {
  return {first, several};
}

/// `change(targets)` of one View of targets, and of every View of several named ones.
template <class V, class Change> auto each_view(V const& view, Change const& change) {
  return change(view);
}
template <class Change> Tensors<> each_view(Tensors<> const&, Change const&) { return {}; }
template <class First, class... Rest, class Change>
auto each_view(Tensors<First, Rest...> const& several, Change const& change) {
  auto const first = named<typename First::tag>(change(several.first.view));
  return prepended(first, each_view(several.rest, change));
}

#if defined(PHYLLO_PERF_UNFUSED)
inline constexpr FusionLevel training_fusion = FusionLevel::none;
#else
inline constexpr FusionLevel training_fusion = FusionLevel::tile;
#endif
#if defined(PHYLLO_PERF_RECOMPUTING)
inline constexpr Recomputation training_recomputation = Recomputation::cheap;
#else
inline constexpr Recomputation training_recomputation = Recomputation::marked;
#endif

/// A training step by the public call: forward, loss, backward, update; on a device replayed as it
/// was captured, and waited for. The gradients of `checked` samples are compared, and of those the
/// `last` ones of the parameters, where it is given: the gradients of a deep network's first layers
/// are others where one ReLU's argument is rounded to the other sign.
template <class Net, class L, class P, class Bits = Fastest, class Targets>
Case training_case(Ceilings const& c, long batch, Targets const& targets, long checked = 32,
                   long last = 0) {
  using Exec = Execution<Space, typename DefaultBackends<Space>::type, training_fusion, Bits,
                         training_recomputation>;
  using Fast = Trainer<Net, L, Sgd, P, Local, Exec>;
  using Slow = Trainer<Net, L, Sgd, Full<double>, Local, TrainingReference>;
  Sgd const rule{.rate = 1e-3f, .momentum = 0.9f};
  struct State {
    Space exec = new_instance();
    Fast trainer;
    Matrix<float> x;
    Targets targets;
    State(Sgd const& r, long n, Targets const& t)
        : trainer(exec, r, {.batch = int(n), .seed = 1}),
          x(random_matrix<float>("x", n, Net::input.size(), 2)),
          targets(t) {}
  };
  auto const state = std::make_shared<State>(rule, batch, targets);
  // One step on a few samples against the same in float64: its change of the parameters.
  checked = std::min(batch, checked);
  auto const part = std::pair<long, long>(0, checked);
  auto const few_x = Kokkos::subview(state->x, part, Kokkos::ALL);
  double target_bytes = 0;
  auto const few_targets = each_view(targets, [&]<class V>(V const& view) {
    target_bytes += double(view.size() * sizeof(typename V::value_type)) / double(batch);
    if constexpr (V::rank == 1)
      return Kokkos::subview(view, part);
    else if constexpr (V::rank == 3)
      return Kokkos::subview(view, part, Kokkos::ALL, Kokkos::ALL);
    else
      return Kokkos::subview(view, part, Kokkos::ALL);
  });
  typename TrainingReference::space const exec;
  Slow truth(exec, rule, {.batch = int(checked), .seed = 1});  // the same random masks
  Fast trial(state->exec, rule, {.batch = int(checked), .seed = 1});
  state->exec.fence("perf");
  copy_parameters(trial.model().parameters(), truth.model().parameters());
  using Where = typename TrainingReference::space::memory_space;
  auto const there = [](auto const& view) {
    return Kokkos::create_mirror_view_and_copy(Where(), view);
  };
  truth.step(there(few_x), each_view(few_targets, there));
  exec.fence("perf");
  // A step whose gradients overflow is skipped, and lowers the scale of the loss.
  auto const skipped = [&] { return on_host(trial.model().state())().skipped; };
  for (std::uint64_t before = 1, tries = 0; tries < 24 && before != skipped(); ++tries) {
    before = skipped();
    trial.step(few_x, few_targets);
    state->exec.fence("perf");
  }
  auto const gradients = on_host(trial.model().gradients());
  Kokkos::View<double*, Kokkos::HostSpace> got("got", trial.model().parameters().size());
  double const scale = double(on_host(trial.model().state())().loss_scale);
  for (std::size_t i = 0; i < got.size(); ++i) got(i) = double(gradients(i)) / scale;
  std::pair<std::size_t, std::size_t> const compared(last > 0 ? got.size() - std::size_t(last) : 0,
                                                     got.size());
  auto const wanted = on_host(Kokkos::subview(truth.model().gradients(), compared));
  Case k;
  if (Bits::shards > 0) k.name = "reproducible";
  k.network = type_name<Net>();
  k.phase = "training";
  k.batch = batch;
  k.flops_per_sample = training_flops<Net>();
  k.bytes_per_sample = sizeof(float) * double(Net::input.size()) + target_bytes;
  k.relative_error = relative_error(wanted, Kokkos::subview(got, compared));
  k.kept_bytes_per_sample = double(NetworkPlan<Net, Phase::training, P, Exec>::memory.bytes_kept);
  set_floor(k, c.template peak<P>(), c.memory());
  auto const step = [state] {
    state->trainer.step(state->x, state->targets);
    state->exec.fence("perf");
  };
  if constexpr (on_device) {
    step();
    using Captured = decltype(state->trainer.capture(state->x, state->targets));
    auto const captured =
        std::make_shared<Captured>(state->trainer.capture(state->x, state->targets));
    k.call = [state, captured] {
      captured->replay();
      state->exec.fence("perf");
    };
  } else {
    k.call = step;
  }
  k.print_steps = [c, batch, step] {
    print_step_times<NetworkPlan<Net, Phase::training, P, Exec>, P>(c, batch, step);
  };
  return k;
}

/// The step as it is, and on processors as Reproducible has it.
template <class Net, class L, class P, class Targets>
std::vector<Case> training_cases(Ceilings const& c, long batch, Targets const& targets) {
  std::vector<Case> cases{training_case<Net, L, P>(c, batch, targets)};
  if constexpr (!on_device)
    cases.push_back(training_case<Net, L, P, Reproducible<>>(c, batch, targets));
  return cases;
}

/// Calls `Workload<P>::run(dtype)` for the precision P that `--dtype` names.
template <template <class> class Workload> int with_precision(int argc, char* argv[]) {
  std::string dtype = "f32";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--dtype") == 0 && i + 1 < argc) dtype = argv[i + 1];
    if (std::strcmp(argv[i], "--steps") == 0) wants_steps = true;
  }
  if (dtype == "f32") return Workload<Full<float>>::run(dtype);
  if (dtype == "bf16") return Workload<Mixed<bf16, float>>::run(dtype);
  if constexpr (on_device) {
    if (dtype == "f16") return Workload<Mixed<fp16, float>>::run(dtype);
  }
  std::fprintf(stderr, "perf: --dtype is f32, bf16 or, on devices, f16, got %s.\n", dtype.c_str());
  return 2;
}

/// The backend of the first step, as `explain` names it.
template <class Net, class P> std::string backend_of() {
  using Plan = Planned<Net, Phase::inference, FusionLevel::segment, sizeof(typename P::storage)>;
  return SelectedBackend<StepOp<Plan, 0>, P, typename Execution<Space>::backends>::name;
}

}  // namespace perf

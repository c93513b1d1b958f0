// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <golden.hpp>
#include <rings.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

// 100 training steps of a network against PyTorch's, which make_curves.py has written to
// <name>.txt. Weights and samples are functions of counters, which both compute.
namespace phyllo::test {

using Space = Kokkos::DefaultHostExecutionSpace;
template <class T> using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// Streams: from zero on the parameter tensors, then these.
inline constexpr std::uint64_t inputs_from = 1000, targets_from = 2000, directions_from = 3000;
inline constexpr int samples = 4, batches = 4, steps = 100;

/// Numbers in [-1, 1), or in [0, 1) where `positive`, of batch k: samples of `size`.
template <class T> Rows<T> draw(std::uint64_t stream, int k, int size, bool positive = false) {
  Rows<T> const x("x", samples, size);
  for (int i = 0; i < samples * size; ++i) {
    double const u = counter_number(stream, std::uint64_t(k * samples * size + i));
    x.data()[i] = T(positive ? 0.5 * u + 0.5 : u);
  }
  return x;
}
/// Integers in 0 .. count - 1 in a View of type V, whose first element is that of the stream.
template <class V> V draw_integers(V const& x, std::uint64_t stream, int k, int count) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const u = counter_number(stream, std::uint64_t(k) * x.size() + i);
    x.data()[i] = int((0.5 * u + 0.5) * count);
  }
  return x;
}

/// Calls visit(number, entry) for all parameters and buffers, in the order of the layers: the
/// number of a tensor is its stream; -1 for buffers.
template <class Net, class Visit> void each_tensor(Visit const& visit) {
  std::vector<std::string> names;
  for (ParameterEntry const& entry : parameter_table<Net>()) {
    auto const found = std::find(names.begin(), names.end(), entry.name);
    visit(entry.is_buffer ? -1 : int(found - names.begin()), entry);
    if (!entry.is_buffer && found == names.end()) names.push_back(entry.name);
  }
}

/// Weights uniform within sqrt(6 / fan_in), scales about one and small biases.
template <class M> void set_parameters(Space const& exec, M& model) {
  TensorFile file;
  each_tensor<typename M::network>([&](int number, ParameterEntry const& entry) {
    auto& tensor = detail::tensor_of(file, entry, entry.name, ElementType::f64);
    long inputs = 1;
    for (std::size_t d = 1; d < entry.shape.size(); ++d) inputs *= entry.shape[d];
    bool const is_scale = entry.shape.size() == 1 && entry.name.ends_with("weight");
    double const width = entry.shape.size() > 1 ? std::sqrt(6.0 / double(inputs)) : 0.25;
    for (long i = entry.first; i < entry.first + entry.size(); ++i) {
      double value = entry.name.ends_with("running_var") ? 1 : 0;
      if (number >= 0)
        value =
            width * counter_number(std::uint64_t(number), std::uint64_t(i)) + (is_scale ? 1 : 0);
      std::memcpy(tensor.bytes.data() + std::size_t(i) * sizeof value, &value, sizeof value);
    }
  });
  from_tensors(exec, model, file, "curves");
}

inline double length(std::vector<double> const& v) {
  double squares = 0;
  for (double const x : v) squares += x * x;
  return std::sqrt(squares);
}
// Relative distance of vectors.
inline double distance(std::vector<double> const& a, std::vector<double> const& b) {
  std::vector<double> d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return a.size() == b.size() ? length(d) / length(b) : INFINITY;
}
// The length of a vector, and its products with two directions.
inline std::vector<double> sums_of(std::vector<double> const& v, int number) {
  std::vector<double> sums = {length(v), 0, 0};
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::uint64_t k = 0; k < 2; ++k)
      sums[1 + k] += v[i] * counter_number(directions_from + 2 * std::uint64_t(number) + k, i);
  return sums;
}

/// What a run of one precision computes.
struct Curve {
  std::vector<double> output;                 // in inference mode, before the first step
  std::vector<std::vector<double>> gradient;  // of the first step, by the number of its tensor
  std::vector<double> losses;                 // before each step
};

template <class P, class Case> Curve run(Case const& c) {
  using T = typename P::storage;
  using Net = typename Case::network;
  Space const exec;
  Trainer<Net, typename Case::loss, decltype(c.rule), P, Local, Execution<Space>> trainer(
      exec, c.rule, {.batch = samples});
  set_parameters(exec, trainer.model());
  if constexpr (requires { c.prepare(exec, trainer.model()); }) c.prepare(exec, trainer.model());
  Curve curve;
  for (int k = 0; k < batches; ++k) {
    auto const y = c.template output<T>(exec, trainer.model(), k);
    curve.output.insert(curve.output.end(), y.begin(), y.end());
  }
  for (int step = 0; step < steps; ++step) {
    trainer.step(c.template inputs<T>(step % batches), c.template targets<T>(step % batches));
    curve.losses.push_back(trainer.loss());
    if (step > 0) continue;
    auto const& gradients = trainer.model().gradients();
    each_tensor<Net>([&](int number, ParameterEntry const& entry) {
      if (number < 0) return;
      if (number == int(curve.gradient.size())) curve.gradient.emplace_back();
      auto& tensor = curve.gradient[std::size_t(number)];
      tensor.resize(std::max(tensor.size(), std::size_t(entry.first + entry.size())));
      double const count = double(gradients(std::size_t(Net::program::nodes.arena_size)));
      for (long i = 0; i < entry.size(); ++i)
        tensor[std::size_t(entry.first + i)] =
            double(gradients(std::size_t(entry.arena_index(i)))) / count;
    });
  }
  return curve;
}

/// The result of a network with one output, in inference mode.
template <class T, class M, class Inputs>
std::vector<double> inferred(Space const& exec, M& model, Inputs const& inputs) {
  Rows<T> const y("y", samples, M::network::output.size());
  model.infer(exec, inputs, y);
  exec.fence("curves");
  return {y.data(), y.data() + y.size()};
}

/// A network with one input of numbers and one output.
template <class Net, class L, class Rule> struct Single {
  using network = Net;
  using loss = L;
  Rule rule;

  template <class T> auto inputs(int k) const { return draw<T>(inputs_from, k, Net::input.size()); }
  template <class T> auto targets(int k) const {
    if constexpr (L::classes) {
      constexpr Shape s = Net::output;
      if constexpr (s.rank == 0)
        return draw_integers(Kokkos::View<int*, Kokkos::HostSpace>("labels", samples), targets_from,
                             k, s.channels);
      else
        return draw_integers(Kokkos::View<int***, Kokkos::LayoutRight, Kokkos::HostSpace>(
                                 "labels", samples, s.spatial[1], s.spatial[2]),
                             targets_from, k, s.channels);
    } else {
      return draw<T>(targets_from, k, Net::output.size());
    }
  }
  template <class T, class M> std::vector<double> output(Space const& exec, M& model, int k) const {
    return inferred<T>(exec, model, inputs<T>(k));
  }
};

/// Double: outputs and gradients of the first step within 1e-10 of PyTorch's, losses of 100 steps
/// within 1e-8. Float: at most twice as far from double as PyTorch's float is.
template <class Case> void check_curve(std::string const& name, Case const& c) {
  CAPTURE(name);
  std::string const file = "curves/" + name;
  Curve const exact = run<Full<double>>(c);
  auto const output = golden(file, "output");
  auto const sums = sums_of(exact.output, 1000);
  REQUIRE(output.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) CHECK(std::fabs(sums[k] - output[k]) <= 1e-10 * output[0]);

  REQUIRE(golden(file, "tensors") == std::vector<double>{double(exact.gradient.size())});
  each_tensor<typename Case::network>([&](int number, ParameterEntry const& entry) {
    if (number < 0) return;
    CAPTURE(entry.name);
    std::string const key = std::to_string(number);
    CHECK(golden(file, "shape " + key) ==
          std::vector<double>(entry.shape.begin(), entry.shape.end()));
    auto const wanted = golden(file, "gradient " + key);
    auto const got = sums_of(exact.gradient[std::size_t(number)], number);
    REQUIRE(wanted.size() == 3);
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(std::fabs(got[k] - wanted[k]) <= 1e-10 * wanted[0] + 1e-15);
  });

  auto const losses = golden(file, "losses");
  REQUIRE(losses.size() == std::size_t(steps));
  double farthest = 0;
  bool all_near = true;
  for (std::size_t k = 0; k < losses.size(); ++k) {
    double const off = std::fabs(exact.losses[k] - losses[k]) / losses[k];
    all_near = all_near && off <= 1e-8;  // not a number is far
    farthest = std::max(farthest, off);
  }
  CHECK(all_near);
  MESSAGE(name, ": loss ", losses.front(), " to ", losses.back(), ", at most ", farthest, " off");

  if constexpr (all_cases) {
    auto const theirs = golden(file, "float32");
    REQUIRE(theirs.size() == 3);
    Curve const rounded = run<Full<float>>(c);
    double error[3] = {distance(rounded.output, exact.output), 0, 0};
    std::vector<double> all, all_exact;
    for (std::size_t t = 0; t < exact.gradient.size(); ++t) {
      all.insert(all.end(), rounded.gradient[t].begin(), rounded.gradient[t].end());
      all_exact.insert(all_exact.end(), exact.gradient[t].begin(), exact.gradient[t].end());
    }
    error[1] = distance(all, all_exact);
    // Roundings grow from step to step, and by how much is chance: the first losses only.
    auto const first = [](std::vector<double> const& v) {
      return std::vector<double>(v.begin(), v.begin() + 20);
    };
    error[2] = distance(first(rounded.losses), first(exact.losses));
    CHECK(error[0] <= 2 * theirs[0]);
    CHECK(error[1] <= 2 * theirs[1]);
    CHECK(error[2] <= 10 * theirs[2]);
    MESSAGE(name, " in float: ", error[0], " ", error[1], " ", error[2], ", PyTorch's ", theirs[0],
            " ", theirs[1], " ", theirs[2]);
  }
}

}  // namespace phyllo::test

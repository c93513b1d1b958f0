// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <phyllo/backend/reference/reference.hpp>
#include <rings.hpp>

#include <cmath>

namespace phyllo::test {

// A network whose kernels are one segment of the backend for processors against plain loops layer
// by layer: inference, loss and, where a training step is one pass, gradients.

using Space = Kokkos::DefaultHostExecutionSpace;
using Tiles = Execution<Space, Backends<HostBackend, PortableBackend>>;
using Plain = Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>;

template <class T> T number(unsigned seed, std::size_t i) {
  return T(2 * random_uniform(seed, 0, 0, i, 0) - 1);
}
template <class View> void fill(View const& v, unsigned seed) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v.data()[i] = number<typename View::value_type>(seed, i);
}

struct Distance {
  double difference = 0, norm = 0;
};
template <class A, class B>
Distance distance(A const& expected, B const& got, int first, int count) {
  Distance d;
  for (std::size_t i = std::size_t(first); i < std::size_t(first + count); ++i) {
    double const e = double(expected.data()[i]), of = double(got.data()[i]) - e;
    d.difference += of * of;
    d.norm += e * e;
  }
  return {std::sqrt(d.difference), std::sqrt(d.norm)};
}

// Roundings of sums.
template <class P>
inline constexpr double bound = std::is_same_v<typename P::accumulate, double> ? 1e-13 : 2e-5;

// Against the same arithmetic layer by layer. With values of 16 bits a maximum may fall to another
// tap and a ReLU to the other side: there the tiles are as near to float64 as the layers are.
template <class P>
bool agrees(Distance const& layers_tiles, double norm, double of_layers, double of_tiles) {
  if (sizeof(typename P::storage) > 2) return layers_tiles.difference <= bound<P> * norm;
  return of_tiles <= 1.5 * of_layers + 0x1p-8 * norm && of_tiles <= 0.25 * norm;
}

template <class Net, class T> auto images(long batch) {
  constexpr Shape s = Net::input;
  auto const n = std::size_t(batch);
  auto const extent = [&](int i) { return std::size_t(s.extent(i)); };
  if constexpr (s.rank == 0)
    return Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>("x", n, extent(0));
  else if constexpr (s.rank == 1)
    return Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>("x", n, extent(0), extent(1));
  else if constexpr (s.rank == 2)
    return Kokkos::View<T****, Kokkos::LayoutRight, Kokkos::HostSpace>("x", n, extent(0), extent(1),
                                                                       extent(2));
  else
    return Kokkos::View<T*****, Kokkos::LayoutRight, Kokkos::HostSpace>(
        "x", n, extent(0), extent(1), extent(2), extent(3));
}

template <class Net, class P, class L> void compare(int batch) {
  CAPTURE(batch);
  constexpr int outputs = Net::output.size();
  Space const exec;
  auto const x = images<Net, float>(batch);
  fill(x, 1);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> targets("t", std::size_t(batch),
                                                                         std::size_t(outputs));
  fill(targets, 2);
  Kokkos::View<int*, Kokkos::HostSpace> classes("classes", std::size_t(batch));
  for (int n = 0; n < batch; ++n) classes(n) = n % outputs;
  using Fast = Trainer<Net, L, Sgd, P, Local, Tiles>;
  static_assert(Fast::ModelType::Inference::plan.size == 1);
  constexpr bool normalizes = Net::program::nodes.buffer_size > 0;
  static_assert(Fast::whole_step == !normalizes);
  Sgd const rule{.rate = 0.1f};
  Trainer<Net, L, Sgd, Full<double>, Local, Plain> exact(exec, rule, {.batch = batch, .seed = 3});
  Trainer<Net, L, Sgd, P, Local, Plain> slow(exec, rule, {.batch = batch, .seed = 3});
  Fast fast(exec, rule, {.batch = batch, .seed = 3});
  auto const& p = slow.model().parameters();
  for (std::size_t i = 0; i < p.size(); ++i) exact.model().parameters()(i) = double(p(i));
  // Running statistics as after some training.
  for (int i = 0; i < Net::program::nodes.buffer_size; ++i)
    for (auto* buffers :
         {&exact.model().buffers(), &slow.model().buffers(), &fast.model().buffers()})
      (*buffers)(i) = 1 + 0.5f * number<float>(4, std::size_t(i));
  using Outputs = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  auto const rows = std::size_t(batch), columns = std::size_t(outputs);
  Outputs truth("truth", rows, columns), expected("expected", rows, columns),
      got("got", rows, columns);
  Kokkos::deep_copy(got, NAN);
  exact.model().infer(exec, x, truth);
  slow.model().infer(exec, x, expected);
  fast.model().infer(exec, x, got);
  exec.fence("inference");
  auto const check = [&](auto const& t, auto const& a, auto const& b, int first, int count,
                         double more) {
    auto const d = distance(a, b, first, count);
    CHECK(d.norm > 0);
    CHECK(agrees<P>(d, d.norm + more, distance(t, a, first, count).difference,
                    distance(t, b, first, count).difference));
    return d.norm;
  };
  check(truth, expected, got, 0, batch * outputs, 0);
  if constexpr (normalizes) return;
  Kokkos::deep_copy(fast.model().gradients(), typename P::accumulate(NAN));
  // Gradients of half precision reach neither end.
  for (auto* state : {&exact.model().state()(), &slow.model().state()(), &fast.model().state()()})
    state->loss_scale = 64;
  if constexpr (L::classes) {
    exact.step(x, classes);
    slow.step(x, classes);
    fast.step(x, classes);
  } else {
    exact.step(x, targets);
    slow.step(x, targets);
    fast.step(x, targets);
  }
  exec.fence("training");
  for (Node const& n : Net::program::nodes.node) {
    if (n.parameter[0].offset < 0) continue;
    CAPTURE(n.parameter[0].offset);
    auto const& t = exact.model().gradients();
    auto const& a = slow.model().gradients();
    auto const& b = fast.model().gradients();
    double const norm = check(t, a, b, n.parameter[0].offset, n.parameter[0].count, 0);
    // Sums over positions may cancel.
    if (n.parameter[1].count > 0) check(t, a, b, n.parameter[1].offset, n.parameter[1].count, norm);
  }
  CHECK(fast.loss() ==
        doctest::Approx(slow.loss()).epsilon(sizeof(typename P::storage) > 2 ? bound<P> : 2e-2));
}

/// Batches around tiles, with targets of both kinds.
template <class Net, class P> void compare_all() {
  for (int const batch : {1, 2, 15, 16, 17, 33, 50}) {
    compare<Net, P, MeanSquaredError>(batch);
    compare<Net, P, CrossEntropy>(batch);
  }
}

}  // namespace phyllo::test

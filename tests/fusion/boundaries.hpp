// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <phyllo/backend/reference/reference.hpp>

#include <cmath>

namespace phyllo::test {

// A network as the planner fuses it against plain loops layer by layer: values of inference, loss
// and gradients of a training step.

using Space = Kokkos::DefaultHostExecutionSpace;
using Fused = Execution<Space>;
using Plain = Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>;

template <class View> void fill(View const& v, unsigned seed) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v.data()[i] = typename View::value_type(2 * random_uniform(seed, 0, 0, i, 0) - 1);
}

// A View of the caller's with the extents of a shape, in a layout of the caller's.
template <class Layout, int Rank> auto view_of(Shape const& s, int batch) {
  auto const n = std::size_t(batch);
  auto const extent = [&](int i) { return std::size_t(s.extent(i)); };
  if constexpr (Rank == 0)
    return Kokkos::View<double**, Layout, Kokkos::HostSpace>("x", n, extent(0));
  else if constexpr (Rank == 1)
    return Kokkos::View<double***, Layout, Kokkos::HostSpace>("x", n, extent(0), extent(1));
  else if constexpr (Rank == 2)
    return Kokkos::View<double****, Layout, Kokkos::HostSpace>("x", n, extent(0), extent(1),
                                                               extent(2));
  else
    return Kokkos::View<double*****, Layout, Kokkos::HostSpace>("x", n, extent(0), extent(1),
                                                                extent(2), extent(3));
}

// The largest of `count` numbers from `first` on, and the largest difference; a number that is none
// is far off.
template <class A> double largest(A const& a, int first, int count) {
  double most = 0;
  for (int i = first; i < first + count; ++i)
    most = std::fmax(most, std::fabs(double(a.data()[i])));
  return most;
}
template <class A, class B> double difference(A const& a, B const& b, int first, int count) {
  double most = 0;
  for (int i = first; i < first + count; ++i) {
    double const difference = std::fabs(double(a.data()[i]) - double(b.data()[i]));
    if (!(difference <= most)) most = std::isnan(difference) ? INFINITY : difference;
  }
  return most;
}

template <class Net, class Layout = Kokkos::LayoutRight, class Exec = Fused>
void compare_with_reference() {
  constexpr Shape in = Net::input, out = Net::output;
  constexpr double bound = 1e-11;
  for (int const batch : {1, 3, 17}) {
    CAPTURE(batch);
    Space const exec;
    auto const x = view_of<Layout, in.rank>(in, batch);
    auto const targets = view_of<Layout, out.rank>(out, batch);
    fill(x, 1);
    fill(targets, 2);
    Sgd const rule{.rate = 0};
    Trainer<Net, MeanSquaredError, Sgd, Full<double>, Local, Plain> plain(
        exec, rule, {.batch = batch, .seed = 3});
    Trainer<Net, MeanSquaredError, Sgd, Full<double>, Local, Exec> fused(
        exec, rule, {.batch = batch, .seed = 3});
    auto const expected = view_of<Layout, out.rank>(out, batch);
    auto const got = view_of<Layout, out.rank>(out, batch);
    Kokkos::deep_copy(got, NAN);
    plain.model().infer(exec, x, expected);
    fused.model().infer(exec, x, got);
    exec.fence("inference");
    int const numbers = int(expected.size());
    CHECK(difference(expected, got, 0, numbers) <= bound * largest(expected, 0, numbers));
    Kokkos::deep_copy(fused.model().gradients(), NAN);
    plain.step(x, targets);
    fused.step(x, targets);
    exec.fence("training");
    CHECK(fused.loss() == doctest::Approx(plain.loss()).epsilon(bound));
    auto const& a = plain.model().gradients();
    auto const& b = fused.model().gradients();
    // A sum that is zero but for roundings is compared with the largest gradient.
    double const most = largest(a, 0, Net::program::nodes.arena_size);
    for (Node const& n : Net::program::nodes.node) {
      CAPTURE(n.parameter[0].offset);
      if (n.parameter[0].count > 0)
        CHECK(difference(a, b, n.parameter[0].offset, n.parameter[0].count) <= bound * most);
      if (n.parameter[1].count > 0)
        CHECK(difference(a, b, n.parameter[1].offset, n.parameter[1].count) <= bound * most);
    }
  }
}

}  // namespace phyllo::test

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fusion/boundaries.hpp>

namespace phyllo::test {

/// Trains one network in two ways, and asks for the same bits: losses, gradients, parameters,
/// statistics, and what forward and backward by hand give for the input.
template <class With, class WithExec, class Without, class WithoutExec, class P>
void compare_training() {
  constexpr int batch = 5;
  Space const exec;
  auto const x = view_of<Kokkos::LayoutRight, With::input.rank>(With::input, batch);
  auto const t = view_of<Kokkos::LayoutRight, With::output.rank>(With::output, batch);
  fill(x, 1);
  fill(t, 2);
  Trainer<With, MeanSquaredError, Adam, P, Local, WithExec> with(exec, Adam{.rate = 0.01},
                                                                 {.batch = batch, .seed = 3});
  Trainer<Without, MeanSquaredError, Adam, P, Local, WithoutExec> without(
      exec, Adam{.rate = 0.01}, {.batch = batch, .seed = 3});
  for (int step = 0; step < 3; ++step) {
    with.step(x, t);
    without.step(x, t);
    CHECK(with.loss() == without.loss());
  }
  auto const same = [](auto const& a, auto const& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a.data()[i] != b.data()[i]) return false;
    return true;
  };
  CHECK(same(with.model().gradients(), without.model().gradients()));
  CHECK(same(with.model().parameters(), without.model().parameters()));
  CHECK(same(with.model().buffers(), without.model().buffers()));

  auto const y = view_of<Kokkos::LayoutRight, With::output.rank>(With::output, batch);
  auto const d_with = view_of<Kokkos::LayoutRight, With::input.rank>(With::input, batch);
  auto const d_without = view_of<Kokkos::LayoutRight, With::input.rank>(With::input, batch);
  auto& a = with.model();
  auto& b = without.model();
  a.forward(exec, x, y);
  a.backward(exec, t, d_with);
  b.forward(exec, x, y);
  b.backward(exec, t, d_without);
  exec.fence("by hand");
  CHECK(same(d_with, d_without));
  CHECK(same(a.gradients(), b.gradients()));
}

}  // namespace phyllo::test

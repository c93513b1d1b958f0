// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/data/batches.hpp>
#include <phyllo/data/view_source.hpp>
#include <phyllo/phyllo.hpp>

#include <cmath>
#include <vector>

namespace phyllo::test {

using Space = Kokkos::DefaultExecutionSpace;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;
using RowBatches = Batches<Rows, Rows>;

// Random masks, running statistics, and parameters of several sizes.
struct Noisy : Network<Input<6>, Linear<20>, BatchNorm<>, Tanh, Dropout<0.3>, Linear<3>> {};

// A function of six numbers with three values, of `samples` points.
inline ViewSource points(long samples) {
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", std::size_t(samples), 6),
      y("y", std::size_t(samples), 3);
  for (std::size_t n = 0; n < x.extent(0); ++n) {
    for (std::size_t i = 0; i < 6; ++i) x(n, i) = float(std::sin(1 + double(n * 7 + 3 * i)));
    for (std::size_t i = 0; i < 3; ++i) y(n, i) = std::tanh(x(n, i) * x(n, i + 1) - x(n, i + 3));
  }
  return ViewSource(x, y);
}

template <class V> void append(std::vector<double>& all, V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  for (std::size_t i = 0; i < host.extent(0); ++i) all.push_back(double(float(host(i))));
}

// Everything that the next step depends on.
template <class T> std::vector<double> state_of(T const& trainer) {
  Kokkos::fence();
  std::vector<double> all;
  append(all, trainer.model().parameters());
  append(all, trainer.model().master());
  append(all, trainer.model().buffers());
  append(all, trainer.optimizer().state());
  StepState const s =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trainer.model().state())();
  for (double const number :
       {double(s.seed), double(s.step), double(s.forward), double(s.loss_scale), s.rate,
        s.learning_rate, s.of_rule[0], s.of_rule[3], double(s.steps_since_overflow),
        double(s.skipped), double(trainer.steps())})
    all.push_back(number);
  return all;
}

// The steps up to step `end` of a training.
template <class T> void train_to(T& trainer, RowBatches& batches, long end) {
  while (trainer.steps() < end) {
    auto const& batch = batches.next();
    trainer.step(batch.inputs, batch.targets);
  }
}

}  // namespace phyllo::test

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <comm/ranks.hpp>
#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <mpi.h>

#include <numeric>
#include <utility>
#include <vector>

// Training whose every number is a small multiple of a power of two: sums over ranks are exact in
// any order, and policies that compute the same compute the same bits.

namespace phyllo::test {

using Space = Kokkos::DefaultExecutionSpace;
using Table = Kokkos::View<double**, Kokkos::HostSpace>;

struct Single : Network<Input<4>, Linear<4>> {};
struct Deep : Network<Input<4>, Linear<8>, ReLU, Linear<4>> {};

// Samples of each rank: powers of two, eight in all, so that means are exact; with empty batches.
inline std::vector<int> batches(bool some_empty) {
  static int const full[6][6] = {{8},          {4, 4},          {2, 2, 4},
                                 {1, 1, 2, 4}, {1, 1, 2, 2, 2}, {1, 1, 1, 1, 2, 2}};
  static int const holes[6][6] = {{8},          {8, 0},          {4, 0, 4},
                                  {4, 0, 2, 2}, {0, 2, 2, 2, 2}, {0, 0, 2, 2, 2, 2}};
  int const ranks = ranks_of();
  int const* const row = some_empty ? holes[ranks - 1] : full[ranks - 1];
  return {row, row + ranks};
}

inline Table integers(int columns, int salt) {
  Table v("integers", 8, std::size_t(columns));
  for (int n = 0; n < 8; ++n)
    for (int i = 0; i < columns; ++i)
      v(std::size_t(n), std::size_t(i)) = (n * 5 + i * 3 + salt * 7 + n * i) % 5 - 2;
  return v;
}

/// A trainer with weights that are multiples of 1/4, and its batches.
template <class Net, class C, class P = Full<double>, class Rule = Sgd> struct Run {
  using TrainerType = Trainer<Net, MeanSquaredError, Rule, P, C>;

  template <class... From>
  explicit Run(Rule const& rule, From&&... from)
      : Run(OptimizerOptions{}, rule, std::forward<From>(from)...) {}
  template <class... From>
  Run(OptimizerOptions const& options, Rule const& rule, From&&... from)
      : trainer(Space{}, C(std::forward<From>(from)...), rule, {.batch = 8, .seed = 1}, options) {
    using A = typename P::accumulate;
    auto const master = Kokkos::create_mirror(trainer.model().master());
    auto const rounded = Kokkos::create_mirror(trainer.model().parameters());
    for (std::size_t i = 0; i < master.extent(0); ++i) {
      master(i) = A(int(i * 7 % 9) - 4) / A(4);
      rounded(i) = typename P::storage(master(i));
    }
    Kokkos::deep_copy(trainer.model().master(), master);
    Kokkos::deep_copy(trainer.model().parameters(), rounded);
  }

  /// Samples of the global batch of a step.
  void step(int number, std::pair<int, int> rows) {
    step(integers(Net::input.size(), number), integers(Net::output.size(), number + 31), rows);
  }
  void step(Table const& inputs, Table const& targets, std::pair<int, int> rows) {
    auto const samples = [&](Table const& all) {
      return Kokkos::subview(Kokkos::create_mirror_view_and_copy(Space{}, all), rows, Kokkos::ALL);
    };
    trainer.step(samples(inputs), samples(targets));
  }
  std::vector<double> weights() const { return on_host(trainer.model().master()); }
  std::vector<double> rule_state() { return on_host(trainer.optimizer().state()); }
  StepState state() const {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trainer.model().state())();
  }

  template <class V> static std::vector<double> on_host(V const& view) {
    Kokkos::fence();
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
    return {host.data(), host.data() + host.size()};
  }

  TrainerType trainer;
};

inline std::pair<int, int> rows_of(std::vector<int> const& sizes, int rank) {
  int const first = std::accumulate(sizes.begin(), sizes.begin() + rank, 0);
  return {first, first + sizes[std::size_t(rank)]};
}

}  // namespace phyllo::test

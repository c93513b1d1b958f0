// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "closure_network.hpp"

#include <utility>

using Samples = Kokkos::View<float**, Kokkos::LayoutRight, Space>;

// A solver on one grid: Heun's method, fluxes of Rusanov.
class Solver {
 public:
  explicit Solver(Grid const& of)
      : grid(of), state(of.state("state")), fluxes(of), stage_(of.state("stage")) {}

  // The mean fluxes of a step that begins with the state.
  void compute_fluxes(Space const& exec) {
    set_fluxes(exec, grid, NumericalFlux{}, state, fluxes, 1, 0);
    advance(exec, grid, state, fluxes, stage_);
    exchange(exec, grid, stage_);
    set_fluxes(exec, grid, NumericalFlux{}, stage_, fluxes, 0.5, 0.5);
  }
  // The same with a correction that is a function of the state.
  template <class Correction> void compute_fluxes(Space const& exec, Correction const& correction) {
    compute_fluxes(exec);
    set_fluxes(exec, grid, correction, state, fluxes, 1, 1);
  }
  void finish_step(Space const& exec) {
    advance(exec, grid, state, fluxes, state);
    exchange(exec, grid, state);
  }

  Grid grid;
  Field state;
  Fluxes fluxes;

 private:
  Field stage_;
};

// The means of the fine cells in each coarse cell.
inline void restrict_state(Space const& exec, Solver const& fine, Solver const& coarse) {
  int const ratio = fine.grid.cells / coarse.grid.cells;
  Field const from = fine.state, to = coarse.state;
  Kokkos::parallel_for(
      "restrict", Kokkos::MDRangePolicy(exec, {0, 0}, {coarse.grid.rows(), coarse.grid.cells}),
      KOKKOS_LAMBDA(int i, int j) {
        for (int v = 0; v < 3; ++v) {
          double sum = 0;
          for (int k = 0; k < ratio * ratio; ++k)
            sum += from(halo + ratio * i + k / ratio, ratio * j + k % ratio, v);
          to(i + halo, j, v) = sum / (ratio * ratio);
        }
      });
  exchange(exec, coarse.grid, to);
}

// Adds the means of the fine fluxes through each coarse face, over the fine faces and one of the
// `ratio` fine steps of a coarse step.
inline void add_fine_fluxes(Space const& exec, Solver const& fine, Grid const& grid,
                            Fluxes const& sum) {
  int const ratio = fine.grid.cells / grid.cells, rows = grid.rows();
  Fluxes const from = fine.fluxes;
  Kokkos::parallel_for(
      "add fine fluxes", Kokkos::MDRangePolicy(exec, {0, 0}, {rows + 1, grid.cells}),
      KOKKOS_LAMBDA(int i, int j) {
        for (int v = 0; v < 3; ++v)
          for (int k = 0; k < ratio; ++k) {
            sum.x(i, j, v) += from.x(ratio * i, ratio * j + k, v) / (ratio * ratio);
            if (i < rows) sum.y(i, j, v) += from.y(ratio * i + k, ratio * j, v) / (ratio * ratio);
          }
      });
}

// The fine solver makes the steps of one coarse step. `coarse` has the means at the beginning, and
// the fluxes of its own; `sum` receives the fluxes with which it would have the means at the end.
inline void coarse_step_of_fine(Space const& exec, Solver& fine, Solver& coarse,
                                Fluxes const& sum) {
  restrict_state(exec, fine, coarse);
  coarse.compute_fluxes(exec);
  Kokkos::deep_copy(exec, sum.x, 0.0);
  Kokkos::deep_copy(exec, sum.y, 0.0);
  for (int k = 0; k < fine.grid.cells / coarse.grid.cells; ++k) {
    fine.compute_fluxes(exec);
    add_fine_fluxes(exec, fine, coarse.grid, sum);
    fine.finish_step(exec);
  }
}

// One sample for each face of this rank's cells: 2 * rows * cells of them. The inputs have noise,
// the targets not: the network ignores small errors of single cells, which the solver damps,
// instead of amplifying them in the coupled run.
inline void record(Space const& exec, Solver const& coarse, Fluxes const& wanted, int step,
                   Samples const& inputs, Samples const& targets) {
  int const n = coarse.grid.cells;
  std::uint64_t const first = std::uint64_t(coarse.grid.rank) * inputs.extent(0);
  Field const state = coarse.state;
  Fluxes const own = coarse.fluxes;
  Kokkos::parallel_for(
      "record", Kokkos::MDRangePolicy(exec, {0, 0}, {coarse.grid.rows(), n}),
      KOKKOS_LAMBDA(int i, int j) {
        for (int side = 0; side < 2; ++side) {
          int const sample = 2 * (i * n + j) + side;
          auto const input = network_input(Stencil{state, i + halo, j, side == 1});
          for (int k = 0; k < 39; ++k) {
            float const random = phyllo::random_uniform({.seed = 2,
                                                         .step = std::uint64_t(step),
                                                         .sample = first + std::uint64_t(sample),
                                                         .element = std::uint32_t(k)});
            inputs(sample, k) = input[k] + noise * (2 * random - 1);
          }
          for (int v = 0; v < 3; ++v) {
            // Between columns, the components of m change places as in Stencil.
            int const w = side == 1 && v > 0 ? 3 - v : v;
            double const missing =
                side == 1 ? wanted.y(i, j, w) - own.y(i, j, w) : wanted.x(i, j, w) - own.x(i, j, w);
            targets(sample, v) = float(missing / flux_unit);
          }
        }
      });
}

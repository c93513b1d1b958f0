// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "gray_scott.hpp"

#include <phyllo/phyllo.hpp>

struct SourceNetwork : phyllo::Network<phyllo::Input<2>, phyllo::Linear<24>, phyllo::Tanh,
                                       phyllo::Linear<24>, phyllo::Tanh, phyllo::Linear<2>> {};
using Samples = Kokkos::View<float**, Space>;  // (cells of all snapshots, 2)

// Inputs and outputs are scaled to numbers of order one, which networks learn best.
constexpr double rate_unit = 0.01;  // per unit of time
KOKKOS_INLINE_FUNCTION Kokkos::Array<float, 2> network_input(double u, double v) {
  return {float(2 * u - 1), float(6 * v - 1)};
}

// One sample for each cell: its state, and its change without that of diffusion.
inline void record(Space const& exec, State const& now, State const& next, Samples const& inputs,
                   Samples const& targets, int first) {
  int const n = now.cells();
  Kokkos::parallel_for(
      "record", Kokkos::MDRangePolicy(exec, {0, 0}, {n, n}), KOKKOS_LAMBDA(int i, int j) {
        int const sample = first + i * n + j;
        auto const input = network_input(now.u(i, j), now.v(i, j));
        double const s_u =
            (next.u(i, j) - now.u(i, j)) / time_step - diffusivity_u * laplacian(now.u, i, j);
        double const s_v =
            (next.v(i, j) - now.v(i, j)) / time_step - diffusivity_v * laplacian(now.v, i, j);
        inputs(sample, 0) = input[0];
        inputs(sample, 1) = input[1];
        targets(sample, 0) = float(s_u / rate_unit);
        targets(sample, 1) = float(s_v / rate_unit);
      });
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "shallow_water.hpp"

#include <phyllo/phyllo.hpp>

// The correction of the flux through one face of a coarse cell, from the 4 x 3 cells around it.
struct ClosureNetwork : phyllo::Network<phyllo::Input<39>, phyllo::Linear<32>, phyllo::SiLU,
                                        phyllo::Linear<32>, phyllo::SiLU, phyllo::Linear<3>> {};

constexpr double difference_unit = 0.1, flux_unit = 0.005;  // inputs and outputs of order one
constexpr float noise = 0.2f;                               // of inputs in training, at most

// The mean state at the face, and how far each cell is from it.
KOKKOS_INLINE_FUNCTION Kokkos::Array<float, 39> network_input(Stencil const& cells) {
  Kokkos::Array<float, 39> input{};
  Conserved const b = cells(1, 0), c = cells(2, 0);
  Conserved const mean = {0.5 * (b[0] + c[0]), 0.5 * (b[1] + c[1]), 0.5 * (b[2] + c[2])};
  input[0] = float(5 * (mean[0] - 1));
  input[1] = float(2 * mean[1]);
  input[2] = float(2 * mean[2]);
  int at = 3;
  for (int k = 0; k < 4; ++k)
    for (int l = -1; l <= 1; ++l) {
      Conserved const cell = cells(k, l);
      for (int v = 0; v < 3; ++v) input[at++] = float((cell[v] - mean[v]) / difference_unit);
    }
  return input;
}

// A flux with the interface of NumericalFlux. The closure is a view of the trained parameters, two
// pointers wide, and every thread calls it for its own face.
struct LearnedFlux {
  phyllo::InKernel<ClosureNetwork, phyllo::Full<float>> closure;

  KOKKOS_FUNCTION Conserved operator()(Stencil const& cells) const {
    auto const y = closure(network_input(cells));
    return {flux_unit * double(y[0]), flux_unit * double(y[1]), flux_unit * double(y[2])};
  }
};

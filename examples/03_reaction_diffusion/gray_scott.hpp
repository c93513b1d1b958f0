// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

// Two substances on a periodic square, food u and a population v that consumes it:
//
//     du/dt = D_u laplace(u) + s_u(u, v),    dv/dt = D_v laplace(v) + s_v(u, v).
//
// The source s is a parameter of the stencil.

using Space = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<double**, Space>;  // (rows, columns)

// The source in one cell, per unit of time.
struct Rates {
  double u, v;
};

// The true source: v consumes u, u is added and v removed. Gray and Scott, Chem. Eng. Sci. 39
// (1984) 1087; with these numbers a labyrinth grows out of every seed (compare Pearson, Science 261
// (1993) 189).
struct GrayScott {
  double feed = 0.0545, removal = 0.062;

  KOKKOS_FUNCTION Rates operator()(double u, double v) const {
    double const eaten = u * v * v;
    return {-eaten + feed * (1 - u), eaten - (feed + removal) * v};
  }
};

struct State {
  Field u, v;

  State(char const* name, int cells)
      : u(std::string(name) + ".u", std::size_t(cells), std::size_t(cells)),
        v(std::string(name) + ".v", std::size_t(cells), std::size_t(cells)) {}
  int cells() const { return int(u.extent(0)); }
};

constexpr double diffusivity_u = 0.16,
                 diffusivity_v = 0.08;  // squared cell widths per unit of time
constexpr double time_step = 1;

// Five-point Laplacian, cell width one, periodic.
KOKKOS_INLINE_FUNCTION double laplacian(Field const& f, int i, int j) {
  int const n = int(f.extent(0));
  int const up = i == 0 ? n - 1 : i - 1, down = i == n - 1 ? 0 : i + 1;
  int const left = j == 0 ? n - 1 : j - 1, right = j == n - 1 ? 0 : j + 1;
  return f(up, j) + f(down, j) + f(i, left) + f(i, right) - 4 * f(i, j);
}

// One explicit Euler step of all cells, source and diffusion in one kernel.
template <class Source>
void advance(Space const& exec, Source const& source, State const& now, State const& next) {
  Kokkos::parallel_for(
      "advance", Kokkos::MDRangePolicy(exec, {0, 0}, {now.cells(), now.cells()}),
      KOKKOS_LAMBDA(int i, int j) {
        double const u = now.u(i, j), v = now.v(i, j);
        Rates const s = source(u, v);
        next.u(i, j) = u + time_step * (diffusivity_u * laplacian(now.u, i, j) + s.u);
        next.v(i, j) = v + time_step * (diffusivity_v * laplacian(now.v, i, j) + s.v);
      });
}

// Food everywhere, and a few squares with v, at positions drawn from the seed.
inline void begin(Space const& exec, State const& state, std::uint32_t seed) {
  Kokkos::deep_copy(exec, state.u, 1.0);
  Kokkos::deep_copy(exec, state.v, 0.0);
  int const n = state.cells(), side = n / 8 + 1;
  for (int square = 0; square < 5; ++square) {
    seed = seed * 1664525u + 1013904223u;  // Numerical Recipes' generator; its upper bits are used
    int const top = int((seed >> 16) % std::uint32_t(n));
    seed = seed * 1664525u + 1013904223u;
    int const left = int((seed >> 16) % std::uint32_t(n));
    Kokkos::parallel_for(
        "begin", Kokkos::MDRangePolicy(exec, {0, 0}, {side, side}), KOKKOS_LAMBDA(int i, int j) {
          state.u((top + i) % n, (left + j) % n) = 0.5;
          state.v((top + i) % n, (left + j) % n) = 0.25;
        });
  }
}

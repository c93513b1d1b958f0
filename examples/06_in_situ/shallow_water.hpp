// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <mpi.h>

#include <cmath>
#include <cstdint>

// The shallow-water equations on a periodic unit square, in units with gravity and mean depth one:
//
//     dh/dt + div(m) = 0,    dm/dt + div(m m / h + h^2 / 2) = 0,    m = h times velocity.
//
// Rows are divided over the ranks. Every number has the same bits for any number of ranks.

using Space = Kokkos::DefaultExecutionSpace;
using Field =
    Kokkos::View<double***, Kokkos::LayoutRight, Space>;  // (rows, columns, 3: h, m_x, m_y)
using Conserved = Kokkos::Array<double, 3>;
constexpr int halo = 2;  // rows of each neighbour

// This rank's rows of a grid.
struct Grid {
  int cells;  // in each direction, of all ranks together
  int rank, ranks;

  int rows() const { return cells / ranks; }
  double width() const { return 1.0 / cells; }
  double time_step() const { return 0.2 * width(); }  // the fastest wave has a speed of about 1.6
  // The first index has the rows of the halo before those of this rank.
  Field state(char const* label) const {
    return Field(label, std::size_t(rows() + 2 * halo), std::size_t(cells), 3);
  }
};

// Fluxes through faces: x(i, j, :) above cell (i, j), with one row more; y(i, j, :) left of it.
struct Fluxes {
  Field x, y;

  explicit Fluxes(Grid const& grid)
      : x("fluxes x", std::size_t(grid.rows() + 1), std::size_t(grid.cells), 3),
        y("fluxes y", std::size_t(grid.rows()), std::size_t(grid.cells), 3) {}
};

// Cells around a face: line k = 0..3 across the face, l = -1..1 along it. For faces between columns
// the axes and the components of m change places, so that one function computes both.
struct Stencil {
  Field const& state;  // the kernel's; a copy would count references
  int i, j;            // the cell behind the face; i counts the halo
  bool between_columns;

  KOKKOS_FUNCTION Conserved operator()(int k, int l) const {
    int const n = int(state.extent(1));
    int const row = between_columns ? i + l : i + k - 2,
              column = between_columns ? j + k - 2 : j + l;
    int const c = (column + n) % n;
    double const first = state(row, c, 1), second = state(row, c, 2);
    return {state(row, c, 0), between_columns ? second : first, between_columns ? first : second};
  }
};

KOKKOS_INLINE_FUNCTION double limited_slope(double left, double right) {  // van Leer's
  return left * right > 0 ? 2 * left * right / (left + right) : 0;
}

// The flux of Rusanov between states that are reconstructed linearly (van Leer, J. Comput. Phys. 32
// (1979) 101): second order in space.
KOKKOS_INLINE_FUNCTION Conserved numerical_flux(Stencil const& cells) {
  Conserved const a = cells(0, 0), b = cells(1, 0), c = cells(2, 0), d = cells(3, 0);
  Conserved left{}, right{}, flux{};
  for (int v = 0; v < 3; ++v) {
    left[v] = b[v] + 0.5 * limited_slope(b[v] - a[v], c[v] - b[v]);
    right[v] = c[v] - 0.5 * limited_slope(c[v] - b[v], d[v] - c[v]);
  }
  double const u = left[1] / left[0], w = right[1] / right[0];
  double const speed =
      Kokkos::max(Kokkos::abs(u) + Kokkos::sqrt(left[0]), Kokkos::abs(w) + Kokkos::sqrt(right[0]));
  for (int v = 0; v < 3; ++v)
    flux[v] = 0.5 * (u * left[v] + w * right[v] - speed * (right[v] - left[v]));
  flux[1] += 0.25 * (left[0] * left[0] + right[0] * right[0]);
  return flux;
}

// to = weight * (what numerical_flux or a learned correction returns) + keep * to, for all faces.
template <class Function>
void set_fluxes(Space const& exec, Grid const& grid, Function const& function, Field const& state,
                Fluxes const& to, double weight, double keep) {
  int const rows = grid.rows();
  Kokkos::parallel_for(
      "fluxes", Kokkos::MDRangePolicy(exec, {0, 0}, {rows + 1, grid.cells}),
      KOKKOS_LAMBDA(int i, int j) {
        Conserved const x = function(Stencil{state, i + halo, j, false});
        for (int v = 0; v < 3; ++v) to.x(i, j, v) = weight * x[v] + keep * to.x(i, j, v);
        if (i == rows) return;
        Conserved const y = function(Stencil{state, i + halo, j, true});
        double const components[3] = {y[0], y[2], y[1]};
        for (int v = 0; v < 3; ++v) to.y(i, j, v) = weight * components[v] + keep * to.y(i, j, v);
      });
}
struct NumericalFlux {
  KOKKOS_FUNCTION Conserved operator()(Stencil const& cells) const { return numerical_flux(cells); }
};

// next = now - time step * divergence of the fluxes; the sum of a field over all cells stays.
inline void advance(Space const& exec, Grid const& grid, Field const& now, Fluxes const& fluxes,
                    Field const& next) {
  double const ratio = grid.time_step() / grid.width();
  int const n = grid.cells;
  Kokkos::parallel_for(
      "advance", Kokkos::MDRangePolicy(exec, {0, 0}, {grid.rows(), n}),
      KOKKOS_LAMBDA(int i, int j) {
        for (int v = 0; v < 3; ++v)
          next(i + halo, j, v) = now(i + halo, j, v) -
                                 ratio * (fluxes.x(i + 1, j, v) - fluxes.x(i, j, v)) -
                                 ratio * (fluxes.y(i, (j + 1) % n, v) - fluxes.y(i, j, v));
      });
}

// Rows of the halo from the neighbours, through host memory; it is in place where the state is.
inline void exchange(Space const& exec, Grid const& grid, Field const& state) {
  int const rows = grid.rows(), before = (grid.rank + grid.ranks - 1) % grid.ranks,
            after = (grid.rank + 1) % grid.ranks;
  auto const send = [&](int first, int to, int from, int target) {
    auto const out =
        Kokkos::subview(state, std::pair(first, first + halo), Kokkos::ALL, Kokkos::ALL);
    auto const in =
        Kokkos::subview(state, std::pair(target, target + halo), Kokkos::ALL, Kokkos::ALL);
    auto const host_out = Kokkos::create_mirror_view(out), host_in = Kokkos::create_mirror_view(in);
    Kokkos::deep_copy(exec, host_out, out);
    exec.fence("exchange");
    int const count = int(out.size());
    MPI_Sendrecv(host_out.data(), count, MPI_DOUBLE, to, 0, host_in.data(), count, MPI_DOUBLE, from,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Kokkos::deep_copy(exec, in, host_in);
  };
  send(halo, before, after, rows + halo);
  send(rows, after, before, 0);
}

// Vortices of random phases, drawn from the seed, below a flat surface.
inline void begin(Space const& exec, Grid const& grid, Field const& state, std::uint32_t seed) {
  constexpr int modes = 24;
  Kokkos::Array<double, 4 * modes> mode{};
  double square = 0;
  for (int k = 0; k < modes; ++k) {
    double random[4];
    for (double& r : random) {
      seed =
          seed * 1664525u + 1013904223u;  // Numerical Recipes' generator; its upper bits are used
      r = double(seed >> 8) * 0x1p-24;
    }
    double const x = std::floor(13 * random[0]) - 6, y = 1 + std::floor(6 * random[1]);
    mode[4 * k] = x;
    mode[4 * k + 1] = y;
    mode[4 * k + 2] = 6.283185307179586 * random[2];
    mode[4 * k + 3] = (0.5 + random[3]) / std::sqrt(x * x + y * y);  // of the stream function
    square += 0.5 * (0.5 + random[3]) * (0.5 + random[3]);
  }
  double const speed = 0.3 / std::sqrt(square);  // root mean square 0.3 of the wave speed
  int const n = grid.cells, first = grid.rank * grid.rows();
  Kokkos::parallel_for(
      "begin", Kokkos::MDRangePolicy(exec, {0, 0}, {grid.rows(), n}), KOKKOS_LAMBDA(int i, int j) {
        double u = 0, w = 0;
        for (int k = 0; k < modes; ++k) {
          double const phase = 6.283185307179586 * (mode[4 * k] * (first + i + 0.5) / n +
                                                    mode[4 * k + 1] * (j + 0.5) / n) +
                               mode[4 * k + 2];
          double const slope = speed * mode[4 * k + 3] * Kokkos::cos(phase);
          u += slope * mode[4 * k + 1];
          w -= slope * mode[4 * k];
        }
        state(i + halo, j, 0) = 1;
        state(i + halo, j, 1) = u;
        state(i + halo, j, 2) = w;
      });
  exchange(exec, grid, state);
}

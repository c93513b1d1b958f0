// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

/// A solver and its adjoint: heat conduction in rods, du/dt = d/dx (k du/dx) on [0, 1], with
/// temperature 1 at the left end and 0 at the right. Nothing here knows of networks.
///
/// shape    conductivity (rods x faces, 1), face f of a rod between its nodes f and f + 1;
///          temperatures (rods, steps + 1, nodes)
/// units    length 1, largest conductivity 1
/// numerics explicit Euler in double; stable while ratio k <= 1/2
namespace rods {

inline constexpr int faces = 32, nodes = faces + 1, steps = 256;
inline constexpr double ratio = 0.4;         // time step / node distance^2
inline constexpr int between_readings = 16;  // the thermometers are read every so many steps

using Space = Kokkos::DefaultExecutionSpace;
using Policy = Kokkos::TeamPolicy<Space>;
using Member = Policy::member_type;
using Conductivity = Kokkos::View<double**>;
using Temperature = Kokkos::View<double***>;

KOKKOS_INLINE_FUNCTION double initial_temperature(int i) {
  double const x = double(i) / faces;
  return 1 - x + 0.5 * Kokkos::sin(2 * Kokkos::numbers::pi_v<double> * x);
}

KOKKOS_INLINE_FUNCTION bool is_read(int step) { return step > 0 && step % between_readings == 0; }

inline double readings(Temperature const& u) {
  return double(u.extent(0)) * (steps / between_readings) * (nodes - 2);
}

/// One rod per team, one node per work item; every step is kept for the adjoint.
inline void solve(Space const& exec, Conductivity const& k, Temperature const& u) {
  Kokkos::parallel_for(
      "rods: solve", Policy(exec, int(u.extent(0)), Kokkos::AUTO),
      KOKKOS_LAMBDA(Member const& team) {
        int const rod = team.league_rank(), first = rod * faces;
        auto const inside = Kokkos::TeamThreadRange(team, 1, nodes - 1);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, nodes),
                             [&](int i) { u(rod, 0, i) = initial_temperature(i); });
        team.team_barrier();
        for (int n = 0; n < steps; ++n) {
          Kokkos::parallel_for(inside, [&](int i) {
            double const right = k(first + i, 0) * (u(rod, n, i + 1) - u(rod, n, i));
            double const left = k(first + i - 1, 0) * (u(rod, n, i) - u(rod, n, i - 1));
            u(rod, n + 1, i) = u(rod, n, i) + ratio * (right - left);
          });
          Kokkos::single(Kokkos::PerTeam(team), [&]() {
            u(rod, n + 1, 0) = u(rod, 0, 0);
            u(rod, n + 1, nodes - 1) = u(rod, 0, nodes - 1);
          });
          team.team_barrier();
        }
      });
}

/// The loss: mean over all readings of (u - measured)^2; waits for it.
inline double misfit(Space const& exec, Temperature const& u, Temperature const& measured) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "rods: misfit",
      Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>(exec, {0, 0}, {int(u.extent(0)), steps + 1}),
      KOKKOS_LAMBDA(int rod, int n, double& local) {
        if (!is_read(n)) return;
        for (int i = 1; i < nodes - 1; ++i) {
          double const difference = u(rod, n, i) - measured(rod, n, i);
          local += difference * difference;
        }
      },
      sum);
  return sum / readings(u);
}

/// d_k = d misfit / d k. The step is linear and symmetric in u, so that the adjoint
/// a(n) = d misfit / d u(n) obeys the same step backwards in time, with the residuals as its source
/// and 0 at both ends; d_k is the sum over steps of (gradient of u) (gradient of a).
inline void adjoint(Space const& exec, Conductivity const& k, Temperature const& u,
                    Temperature const& measured, Temperature const& a, Conductivity const& d_k) {
  double const scale = 2 / readings(u);
  Kokkos::parallel_for(
      "rods: adjoint", Policy(exec, int(u.extent(0)), Kokkos::AUTO),
      KOKKOS_LAMBDA(Member const& team) {
        int const rod = team.league_rank(), first = rod * faces;
        auto const all = Kokkos::TeamThreadRange(team, nodes);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, faces),
                             [&](int f) { d_k(first + f, 0) = 0; });
        for (int n = steps; n >= 0; --n) {
          Kokkos::parallel_for(all, [&](int i) {
            a(rod, n, i) = 0;
            if (i == 0 || i == nodes - 1) return;
            if (is_read(n)) a(rod, n, i) = scale * (u(rod, n, i) - measured(rod, n, i));
            if (n == steps) return;
            double const right = k(first + i, 0) * (a(rod, n + 1, i + 1) - a(rod, n + 1, i));
            double const left = k(first + i - 1, 0) * (a(rod, n + 1, i) - a(rod, n + 1, i - 1));
            a(rod, n, i) += a(rod, n + 1, i) + ratio * (right - left);
          });
          team.team_barrier();
          if (n == 0) return;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, faces), [&](int f) {
            d_k(first + f, 0) += ratio * (u(rod, n - 1, f + 1) - u(rod, n - 1, f)) *
                                 (a(rod, n, f) - a(rod, n, f + 1));
          });
          team.team_barrier();
        }
      });
}

}  // namespace rods

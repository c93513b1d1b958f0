// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>

/// The atmosphere of Lorenz on a circle of latitude: dx_k/dt = (x_{k+1} - x_{k-2}) x_{k-1} - x_k +
/// forcing, in `sites` places. Chaotic for a forcing of 8.
///
/// source   Lorenz, "Predictability: A Problem Partly Solved", ECMWF Seminar on Predictability,
/// 1996
namespace lorenz96 {

inline constexpr int sites = 8;
inline constexpr double forcing = 8;
inline constexpr double interval = 0.05;  // between two samples: 6 hours of an atmosphere

struct State {
  double x[sites];
};

KOKKOS_INLINE_FUNCTION State derivative(State const& s) {
  State d;
  for (int k = 0; k < sites; ++k)
    d.x[k] = (s.x[(k + 1) % sites] - s.x[(k + sites - 2) % sites]) * s.x[(k + sites - 1) % sites] -
             s.x[k] + forcing;
  return d;
}
KOKKOS_INLINE_FUNCTION State moved(State const& s, State const& d, double time) {
  State to;
  for (int k = 0; k < sites; ++k) to.x[k] = s.x[k] + time * d.x[k];
  return to;
}

/// One interval later, by four steps of the classical Runge-Kutta method.
KOKKOS_INLINE_FUNCTION State next(State s) {
  constexpr int steps = 4;
  constexpr double h = interval / steps;
  for (int i = 0; i < steps; ++i) {
    State const a = derivative(s), b = derivative(moved(s, a, h / 2));
    State const c = derivative(moved(s, b, h / 2)), d = derivative(moved(s, c, h));
    for (int k = 0; k < sites; ++k) s.x[k] += h / 6 * (a.x[k] + 2 * b.x[k] + 2 * c.x[k] + d.x[k]);
  }
  return s;
}

/// On the attractor: `number` chooses the start.
KOKKOS_INLINE_FUNCTION State spun_up(int number) {
  State s;
  for (int k = 0; k < sites; ++k)
    s.x[k] = forcing + Kokkos::sin(1.0 + 3.7 * k + 0.61 * number + 0.013 * number * k);
  for (int i = 0; i < 400; ++i) s = next(s);
  return s;
}

/// The largest Lyapunov exponent, in 1 / time: growth of a small difference, which is scaled back
/// after each interval.
///
/// source   Benettin et al., Meccanica 15 (1980) 9
inline double lyapunov_exponent(int intervals) {
  State s = spun_up(0), other = s;
  double const size = 1e-8;
  other.x[0] += size;
  double sum = 0;
  for (int i = 0; i < intervals; ++i) {
    s = next(s);
    other = next(other);
    double squares = 0;
    for (int k = 0; k < sites; ++k) squares += (other.x[k] - s.x[k]) * (other.x[k] - s.x[k]);
    double const distance = std::sqrt(squares);
    sum += std::log(distance / size);
    for (int k = 0; k < sites; ++k) other.x[k] = s.x[k] + (other.x[k] - s.x[k]) * (size / distance);
  }
  return sum / (intervals * interval);
}

/// Trajectories of `states` intervals, one a start: (starts, sites, times).
struct Integrate {
  Kokkos::View<float***> trajectory;
  int first;  // number of the first start
  KOKKOS_FUNCTION void operator()(int n) const {
    State s = spun_up(first + n);
    for (int t = 0; t < int(trajectory.extent(2)); ++t) {
      for (int k = 0; k < sites; ++k) trajectory(n, k, t) = float(s.x[k]);
      s = next(s);
    }
  }
};

inline Kokkos::View<float***> trajectories(Kokkos::DefaultExecutionSpace const& exec, int first,
                                           int starts, int times) {
  Kokkos::View<float***> trajectory("trajectories", std::size_t(starts), std::size_t(sites),
                                    std::size_t(times));
  Kokkos::parallel_for("integrate", Kokkos::RangePolicy(exec, 0, starts),
                       Integrate{trajectory, first});
  return trajectory;
}

}  // namespace lorenz96

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

/// States of a van der Waals fluid with what the network shall say of them.
///
/// units    density, temperature and pressure in units of the critical point's
/// source   van der Waals equation in reduced form, p = 8 T r / (3 - r) - 3 r^2
struct Fluid {
  using Space = Kokkos::DefaultExecutionSpace;
  enum Phase : int { dilute, unstable, dense };

  Kokkos::View<double**> state;     // (N, 2): density, temperature
  Kokkos::View<double**> pressure;  // (N, 1)
  Kokkos::View<int*> phase;         // (N)

  KOKKOS_FUNCTION static double pressure_of(double r, double t) {
    return 8 * t * r / (3 - r) - 3 * r * r;
  }
  /// Unstable where the pressure falls with the density.
  KOKKOS_FUNCTION static Phase phase_of(double r, double t) {
    if (24 * t / ((3 - r) * (3 - r)) - 6 * r < 0) return unstable;
    return r < 1 ? dilute : dense;
  }

  /// `count` states, evenly spread over densities 0.1 to 1.9 and temperatures 0.7 to 1.3: numbers
  /// `first` and following of a low-discrepancy sequence (Roberts, "The Unreasonable Effectiveness
  /// of Quasirandom Sequences", 2018).
  static Fluid sample(Space const& exec, int first, int count) {
    Fluid const fluid{Kokkos::View<double**>("state", count, 2),
                      Kokkos::View<double**>("pressure", count, 1),
                      Kokkos::View<int*>("phase", count)};
    auto const state = fluid.state, pressure = fluid.pressure;
    auto const phase = fluid.phase;
    Kokkos::parallel_for(
        "fluid", Kokkos::RangePolicy<Space>(exec, 0, count), KOKKOS_LAMBDA(int n) {
          double const a = 0.5 + 0.7548776662466927 * (first + n);
          double const b = 0.5 + 0.5698402909980532 * (first + n);
          double const r = 0.1 + 1.8 * (a - Kokkos::floor(a));
          double const t = 0.7 + 0.6 * (b - Kokkos::floor(b));
          state(n, 0) = r;
          state(n, 1) = t;
          pressure(n, 0) = pressure_of(r, t);
          phase(n) = phase_of(r, t);
        });
    return fluid;
  }

  int size() const { return int(phase.extent(0)); }

  /// Samples `first` to `first + count - 1`, without a copy.
  auto states(int first, int count) const {
    return Kokkos::subview(state, Kokkos::make_pair(first, first + count), Kokkos::ALL);
  }
  auto pressures(int first, int count) const {
    return Kokkos::subview(pressure, Kokkos::make_pair(first, first + count), Kokkos::ALL);
  }
  auto phases(int first, int count) const {
    return Kokkos::subview(phase, Kokkos::make_pair(first, first + count));
  }
};

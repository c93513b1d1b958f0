// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "protein.hpp"

#include <phyllo/core/random_normal.hpp>

#include <cstdint>

/// Langevin dynamics of some chains by the scheme BAOAB, several steps in one kernel; one work item
/// is one chain. Neighbours along the chain, and next neighbours, are springs; native contacts
/// attract, all other pairs repel. In half of each cycle the ends of a chain are pulled apart, as
/// by an atomic force microscope: the helices separate, then unwind. In the other half it folds.
///
/// source   Go, Annu. Rev. Biophys. Bioeng. 12 (1983) 183; the 12-10 potential of Clementi, Nymeyer
///          and Onuchic, J. Mol. Biol. 298 (2000) 937; Leimkuhler and Matthews, Appl. Math. Res.
///          Express 2013 (2013) 34; unfolding by force: Rief et al., Science 276 (1997) 1109
struct FoldChains {
  static constexpr double time_step = 0.02, friction = 0.2;
  static constexpr double bond = 100, angle = 10, repulsion = 4;  // per Angstrom^2; Angstrom
  static constexpr double in_helix = 2;                           // times as strong as between them
  static constexpr double temperature = 0.5;                      // energies of a contact
  static constexpr double strongest_pull = 4;  // energies of a contact per Angstrom
  static constexpr double period = 80'000;     // steps of one cycle

  Kokkos::View<double***, Space> x, v;  // (chains, beads, 3)
  Kokkos::View<double const**, Space> native;
  long first_step;
  int steps;
  int first_chain;  // of all ranks: random numbers are keyed by it
  std::uint64_t seed;

  KOKKOS_FUNCTION void operator()(int chain) const {
    double at[beads][3], speed[beads][3], force[beads][3];
    for (int i = 0; i < beads; ++i)
      for (int d = 0; d < 3; ++d) at[i][d] = x(chain, i, d), speed[i][d] = v(chain, i, d);
    forces(at, force);
    pull(force, first_chain + chain, first_step);
    for (long step = first_step; step < first_step + steps; ++step) {
      kick_and_drift(at, speed, force, time_step / 2);
      thermostat(speed, first_chain + chain, step);
      for (int i = 0; i < beads; ++i)
        for (int d = 0; d < 3; ++d) at[i][d] += time_step / 2 * speed[i][d];
      forces(at, force);
      pull(force, first_chain + chain, step + 1);
      for (int i = 0; i < beads; ++i)
        for (int d = 0; d < 3; ++d) speed[i][d] += time_step / 2 * force[i][d];
    }
    for (int i = 0; i < beads; ++i)
      for (int d = 0; d < 3; ++d) x(chain, i, d) = at[i][d], v(chain, i, d) = speed[i][d];
  }

 private:
  using Vectors = double[beads][3];

  KOKKOS_FUNCTION static void kick_and_drift(Vectors& at, Vectors& speed, Vectors const& force,
                                             double time) {
    for (int i = 0; i < beads; ++i)
      for (int d = 0; d < 3; ++d) {
        speed[i][d] += time * force[i][d];
        at[i][d] += time * speed[i][d];
      }
  }
  KOKKOS_FUNCTION void thermostat(Vectors& speed, int chain, long step) const {
    double const kept = Kokkos::exp(-friction * time_step);
    double const noise = Kokkos::sqrt((1 - kept * kept) * temperature);
    for (int i = 0; i < beads; ++i)
      for (int d = 0; d < 3; ++d)
        speed[i][d] =
            kept * speed[i][d] +
            noise * double(phyllo::random_normal({seed, std::uint64_t(step), std::uint32_t(chain),
                                                  std::uint64_t(i), std::uint32_t(d)}));
  }
  // The chains' cycles begin at different times.
  KOKKOS_FUNCTION static void pull(Vectors& force, int chain, long step) {
    double const phase = 6.283185307179586 * (double(step) / period + chain * 0.618033988749895);
    double const strength = strongest_pull * Kokkos::fmax(0.0, -Kokkos::cos(phase));
    force[0][0] -= strength;
    force[beads - 1][0] += strength;
  }
  KOKKOS_FUNCTION void forces(Vectors const& at, Vectors& force) const {
    for (int i = 0; i < beads; ++i)
      for (int d = 0; d < 3; ++d) force[i][d] = 0;
    for (int i = 0; i < beads; ++i)
      for (int j = i + 1; j < beads; ++j) {
        double r[3], square = 0;
        for (int d = 0; d < 3; ++d) r[d] = at[j][d] - at[i][d], square += r[d] * r[d];
        double const pull = attraction(j - i, square, native(i, j));
        for (int d = 0; d < 3; ++d) {
          force[i][d] += pull * r[d];
          force[j][d] -= pull * r[d];
        }
      }
  }
  // Force over distance; positive: towards each other.
  KOKKOS_FUNCTION static double attraction(int apart, double square, double rest) {
    if (apart <= 2) {
      double const distance = Kokkos::sqrt(square), length = apart == 1 ? bond_length : rest;
      return (apart == 1 ? bond : angle) * (distance - length) / distance;
    }
    bool const contact = rest < cutoff;
    double const s = (contact ? rest * rest : repulsion * repulsion) / square;
    double const s5 = s * s * s * s * s;
    // Potentials 5 s^6 - 6 s^5 and s^6, s the square of the ratio of lengths.
    double const strength = apart <= 4 ? in_helix : 1;
    return (contact ? 60 * strength * (s5 - s5 * s) : -12 * s5 * s) / square;
  }
};

/// Contact maps of the chains, and the fraction of native contacts that each has.
struct MapContacts {
  Kokkos::View<double const***, Space> x;
  Kokkos::View<double const**, Space> native;
  Kokkos::View<float****, Kokkos::LayoutRight, Space> maps;  // (samples, 1, beads, beads)
  Kokkos::View<float*, Space> fraction;                      // (samples)
  int first;                                                 // sample of the first chain
  int contacts;

  KOKKOS_FUNCTION void operator()(int chain) const {
    int kept = 0;
    for (int i = 0; i < beads; ++i)
      for (int j = 0; j < beads; ++j) {
        double square = 0;
        for (int d = 0; d < 3; ++d) {
          double const r = x(chain, j, d) - x(chain, i, d);
          square += r * r;
        }
        bool const is_contact = square < cutoff * cutoff;
        maps(first + chain, 0, i, j) = is_contact ? 1.0f : 0.0f;
        kept += j - i >= 3 && is_contact && native(i, j) < cutoff;
      }
    fraction(first + chain) = float(kept) / float(contacts);
  }
};

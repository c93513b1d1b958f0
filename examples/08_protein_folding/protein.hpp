// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <vector>

// A protein of 28 residues, one bead each, that folds into two helices side by side: lengths in
// Angstrom, energies in units of one native contact, masses of one bead.

using Space = Kokkos::DefaultExecutionSpace;
inline constexpr int beads = 28;
inline constexpr double cutoff = 8;         // of a contact
inline constexpr double bond_length = 3.8;  // between neighbours along the chain

/// The folded state. Rise, turn and radius of a helix: Pauling, Corey and Branson, PNAS 37 (1951)
/// 205.
inline std::vector<double> native_positions() {
  std::vector<double> x(3 * beads);
  constexpr int helix = 12, loop = beads - 2 * helix;
  constexpr double rise = 1.5, turn = 100 * 3.14159265358979 / 180, radius = 2.3, apart = 8.5;
  for (int i = 0; i < beads; ++i) {
    double* const at = &x[std::size_t(3 * i)];
    if (i < helix || i >= helix + loop) {
      bool const up = i < helix;
      int const k = up ? i : beads - 1 - i;  // from the end of the chain
      double const angle = turn * k + (up ? 0 : 3.14159265358979);
      at[0] = radius * std::cos(angle) + (up ? 0 : apart);
      at[1] = (up ? 1 : -1) * radius * std::sin(angle);
      at[2] = rise * k;
    } else {  // an arch over the ends of both
      double const angle = 3.14159265358979 * (i - helix + 1.0) / (loop + 1);
      at[0] = apart / 2 * (1 - std::cos(angle));
      at[1] = 0;
      at[2] = rise * (helix - 1) + 6 * std::sin(angle);
    }
  }
  return x;
}

/// Distances of the folded state. Pairs closer than the cut-off, three or more apart along the
/// chain, are its native contacts.
struct NativeState {
  Kokkos::View<double**, Space> distance{"native distance", beads, beads};
  int contacts = 0;

  NativeState() {
    auto const host = Kokkos::create_mirror_view(distance);
    std::vector<double> const x = native_positions();
    for (int i = 0; i < beads; ++i)
      for (int j = 0; j < beads; ++j) {
        double sum = 0;
        for (int d = 0; d < 3; ++d)
          sum += std::pow(x[std::size_t(3 * i + d)] - x[std::size_t(3 * j + d)], 2);
        host(i, j) = std::sqrt(sum);
        contacts += j - i >= 3 && host(i, j) < cutoff;
      }
    Kokkos::deep_copy(distance, host);
  }
};

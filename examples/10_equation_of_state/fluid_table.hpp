// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

/// A table of a van der Waals fluid above its critical point, in reduced units: pressure and speed
/// of sound of density and temperature, in the order of the grid.
///
/// shape    states (N, 2): density, temperature · properties (N, 2): pressure, speed of sound
/// source   Landau and Lifshitz, Statistical Physics, §76 and §84; a monatomic gas, c_v = 4
struct FluidTable {
  std::vector<double> states, properties;

  /// shift: of the grid's points, 0 to 1 cells.
  FluidTable(int densities, int temperatures, double shift) {
    for (int i = 0; i < densities; ++i)
      for (int j = 0; j < temperatures; ++j) {
        double const d = 0.1 + 1.4 * (i + shift) / densities;
        double const t = 1.2 + 1.8 * (j + shift) / temperatures;
        double const free = 3 - d, slope = 8 * d / free;  // of the pressure over temperature
        double const stiffness = 24 * t / (free * free) - 6 * d;
        states.insert(states.end(), {d, t});
        properties.insert(
            properties.end(),
            {slope * t - 3 * d * d, std::sqrt(stiffness + t * slope * slope / (4 * d * d))});
      }
  }

  /// As numpy.save writes it, in version 1 of the format.
  static void write(std::string const& path, std::vector<double> const& rows) {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows.size() / 2) + ", 2), }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file << "\x93NUMPY" << '\1' << '\0' << char(header.size()) << '\0' << header;
    file.write(reinterpret_cast<char const*>(rows.data()), std::streamsize(8 * rows.size()));
  }
};

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

// Electrons and atoms. Lengths are in Angstrom, spatial frequencies in 1 / Angstrom, energies in
// electron volts.

inline constexpr double pi = 3.14159265358979323846;

/// Wavelength of electrons after an acceleration by so many volts.
///
/// source   Kirkland, "Advanced Computing in Electron Microscopy", 2nd ed. (2010), eq. 2.5
inline double wavelength(double volts) {
  constexpr double planck_light = 12398.41984, rest = 510998.95;  // h c, m c^2
  return planck_light / std::sqrt(volts * (2 * rest + volts));
}

/// Phase for one volt times one Angstrom of projected potential.
///
/// units    radians / (volt Angstrom)
/// source   Kirkland (2010), eq. 5.6
inline double interaction(double volts) {
  constexpr double rest = 510998.95;
  return 2 * pi / (wavelength(volts) * volts) * (rest + volts) / (2 * rest + volts);
}

/// An atom's scattering factor f(s), the sum of a exp(-b s^2) with s half the spatial frequency,
/// and the exponent of its mean square thermal displacement.
///
/// units    a in Angstrom, b and thermal in Angstrom^2
/// source   Peng, Ren, Dudarev and Whelan, Acta Cryst. A52 (1996) 257, neutral atoms, s up to 6 /
///          Angstrom
struct Species {
  char const* name;
  double a[5], b[5];
  double thermal;  // the Debye-Waller factor is exp(-thermal s^2)

  double factor(double frequency) const {
    double const square = frequency * frequency / 4;
    double sum = 0;
    for (int i = 0; i < 5; ++i) sum += a[i] * std::exp(-(b[i] + thermal) * square);
    return sum;
  }
  /// The Fourier transform of the factor times h^2 / (2 pi m e): the potential of one atom,
  /// integrated along the beam, at a distance from it.
  ///
  /// units    volt Angstrom
  double projected_potential(double distance) const {
    double sum = 0;
    for (int i = 0; i < 5; ++i) {
      double const width = b[i] + thermal;
      sum += a[i] * 4 * pi / width * std::exp(-4 * pi * pi * distance * distance / width);
    }
    return potential_of_factor * sum;
  }
  static constexpr double potential_of_factor = 47.87764;  // volt Angstrom^2
};

inline constexpr Species species[] = {{"Al",
                                       {0.1165, 0.5504, 1.0179, 2.6295, 1.5711},
                                       {0.1295, 1.2619, 6.8242, 28.4577, 88.475},
                                       0.8},
                                      {"Cu",
                                       {0.3501, 1.6558, 1.9582, 0.2134, 1.4109},
                                       {0.1867, 1.9917, 11.3396, 53.2619, 63.252},
                                       0.8},
                                      {"Au",
                                       {0.3055, 1.3945, 2.9617, 3.899, 2.0026},
                                       {0.0596, 0.5827, 3.1035, 11.9693, 47.9106},
                                       0.8}};
inline constexpr int species_count = 3;

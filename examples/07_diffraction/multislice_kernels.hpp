// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fourier_transform.hpp"

#include <cstdint>

/// (patterns, rows, columns)
using Images = Kokkos::View<float***, Kokkos::LayoutRight, Space>;

/// A square of `extent` Angstrom, periodic. Frequencies are multiples of 1 / extent in both
/// directions, whatever the numbers of rows and columns.
struct Grid {
  int rows = 180, columns = 128;
  double extent = 32;
};

/// The multiple of the lowest frequency that index i of n has.
KOKKOS_INLINE_FUNCTION int frequency(int i, int n) { return i < (n + 1) / 2 ? i : i - n; }

/// Atoms of all slices of all patterns: those of slice s of pattern p are first(p, s) to
/// first(p, s + 1).
struct SlicedAtoms {
  Kokkos::View<float**, Kokkos::LayoutRight, Space> at;   // (atoms, 2): row and column, Angstrom
  Kokkos::View<int**, Kokkos::LayoutRight, Space> first;  // (patterns, slices + 1)
  Kokkos::View<int*, Space> species;                      // (patterns)
};

/// The projected potential of one slice, volt Angstrom. One work item is one row of one pattern.
struct ProjectPotential {
  Images potential;
  SlicedAtoms atoms;
  int slice;
  // (species, squares of distances from 0 to that of the cut-off)
  Kokkos::View<float const**, Kokkos::LayoutRight, Space> table;
  float cutoff, extent;  // Angstrom
  float strength;        // 1: that of real atoms

  KOKKOS_FUNCTION void operator()(int item) const {
    int const rows = potential.extent_int(1), columns = potential.extent_int(2);
    int const p = item / rows, row = item % rows;
    float* const line = &potential(p, row, 0);
    float const* const of_square = &table(atoms.species(p), 0);
    float const step = extent / float(columns);
    for (int c = 0; c < columns; ++c) line[c] = 0;
    for (int n = atoms.first(p, slice); n < atoms.first(p, slice + 1); ++n) {
      float dy = float(row) * extent / float(rows) - atoms.at(n, 0);
      dy -= extent * Kokkos::floor(dy / extent + 0.5f);
      float const half_square = cutoff * cutoff - dy * dy;
      if (half_square <= 0) continue;
      float const x = atoms.at(n, 1), half = Kokkos::sqrt(half_square);
      int const begin = int(Kokkos::ceil((x - half) / step));
      int const end = int(Kokkos::floor((x + half) / step)) + 1;
      for (int image = -columns; image <= columns; image += columns)
        add(line, of_square, dy * dy, x, step, Kokkos::max(begin, image),
            Kokkos::min(end, image + columns), image);
    }
  }

 private:
  // Columns begin to end of the periodic continuation; `image` is the column 0 of this part of it.
  KOKKOS_FUNCTION void add(float* line, float const* of_square, float dy_square, float x,
                           float step, int begin, int end, int image) const {
    int const last = table.extent_int(1) - 2;
    float const places = float(last + 1) / (cutoff * cutoff);
    for (int c = begin; c < end; ++c) {
      float const dx = float(c) * step - x;
      float const place = (dx * dx + dy_square) * places;
      int const before = Kokkos::min(int(place), last);
      float const weight = place - float(before);
      line[c - image] +=
          strength * ((1 - weight) * of_square[before] + weight * of_square[before + 1]);
    }
  }
};

/// exp(i interaction potential)
struct MakeTransmission {
  Waves transmission;
  Images potential;
  float interaction;
  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    float const phase = interaction * potential(p, i, j);
    transmission(p, i, j) = Wave(Kokkos::cos(phase), Kokkos::sin(phase));
  }
};

/// Zeroes frequencies above two thirds of the highest, in each direction, so that products have no
/// aliases below it; and multiplies by a factor.
struct LimitBand {
  Waves wave;
  float factor;
  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    wave(p, i, j) *=
        is_inside(i, wave.extent_int(1)) && is_inside(j, wave.extent_int(2)) ? factor : 0.0f;
  }
  KOKKOS_FUNCTION static bool is_inside(int i, int n) {
    int const f = frequency(i, n);
    return 3 * (f < 0 ? -f : f) <= n;
  }
};

struct Transmit {
  Waves wave, transmission;
  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    wave(p, i, j) *= transmission(p, i, j);
  }
};

/// Multiplies by the Fresnel propagator exp(-i pi wavelength distance k^2), a product of numbers of
/// rows and columns, which contain the factor of the transforms.
struct Propagate {
  Waves wave;
  Kokkos::View<Wave const**, Kokkos::LayoutRight, Space> of_row, of_column;
  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    wave(p, i, j) *= of_row(p, i) * of_column(p, j);
  }
};

/// The numbers of one direction for Propagate; one work item is one pattern.
struct MakePropagator {
  Kokkos::View<Wave**, Kokkos::LayoutRight, Space> propagator;
  Kokkos::View<double const*, Space> distance;
  double wavelength, extent, factor;
  bool limited;
  KOKKOS_FUNCTION void operator()(int p) const {
    int const n = propagator.extent_int(1);
    for (int i = 0; i < n; ++i) {
      double const k = frequency(i, n) / extent;
      double const phase = -3.14159265358979323846 * wavelength * distance(p) * k * k;
      double const size = !limited || LimitBand::is_inside(i, n) ? factor : 0;
      propagator(p, i) = Wave(float(size * Kokkos::cos(phase)), float(size * Kokkos::sin(phase)));
    }
  }
};

/// A convergent probe in the middle of the grid, as frequencies: those of an aperture have one
/// amplitude, and the phase of the defocus.
struct FillProbe {
  Waves wave;
  Kokkos::View<double const*, Space> defocus;  // (patterns), Angstrom
  double wavelength, extent;
  double aperture;  // radius, 1 / Angstrom
  float amplitude;
  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    int const f = frequency(i, wave.extent_int(1)), g = frequency(j, wave.extent_int(2));
    double const square = (double(f) * f + double(g) * g) / (extent * extent);
    double const phase = -3.14159265358979323846 * wavelength * defocus(p) * square;
    float const a = square > aperture * aperture ? 0.0f : (i + j) % 2 == 0 ? amplitude : -amplitude;
    wave(p, i, j) = Wave(a * float(Kokkos::cos(phase)), a * float(Kokkos::sin(phase)));
  }
};

/// Share of the electrons at each pixel of a detector around the direct beam, from a wave as
/// frequencies. The shift moves the pattern on the detector by so many rows and columns; pixels
/// that have no frequency are dark.
struct Detect {
  Images share;
  Waves wave;
  Kokkos::View<int const**, Kokkos::LayoutRight, Space> shift;  // (patterns, 2)
  float factor;
  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    int const rows = wave.extent_int(1), columns = wave.extent_int(2);
    int const f = i - share.extent_int(1) / 2 - shift(p, 0);
    int const g = j - share.extent_int(2) / 2 - shift(p, 1);
    if (2 * f < -rows || 2 * f >= rows || 2 * g < -columns || 2 * g >= columns) {
      share(p, i, j) = 0;
      return;
    }
    Wave const z = wave(p, f < 0 ? f + rows : f, g < 0 ? g + columns : g);
    share(p, i, j) = factor * (z.real() * z.real() + z.imag() * z.imag());
  }
};

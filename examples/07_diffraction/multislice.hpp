// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "multislice_kernels.hpp"
#include "scattering.hpp"

/// Fast electrons through thin slices of atoms, several patterns at a time: each slice multiplies
/// the wave by a phase, and the space behind it is a Fresnel propagation.
///
/// state    wave: (patterns, rows, columns), in real space between calls; the sum of its squares is
///          one
/// units    Angstrom, volts
/// numerics waves in float. With a band limit, frequencies above two thirds of the highest are
///          removed from phases and waves, and electrons that are scattered there are lost
/// source   Cowley and Moodie, Acta Cryst. 10 (1957) 609; Kirkland, "Advanced Computing in Electron
///          Microscopy", 2nd ed. (2010), ch. 6
class Multislice {
 public:
  static constexpr double cutoff = 4;   // of an atom's potential
  static constexpr int squares = 8192;  // of distances, in the table of potentials

  Waves wave;
  Images potential;  // of the slice before, volt Angstrom

  Multislice(Space const& exec, int patterns, Grid const& grid, double volts,
             bool band_limit = true)
      : wave("wave", std::size_t(patterns), std::size_t(grid.rows), std::size_t(grid.columns)),
        potential("potential", wave.extent(0), wave.extent(1), wave.extent(2)),
        grid_(grid),
        wavelength_(wavelength(volts)),
        interaction_(interaction(volts)),
        band_limit_(band_limit),
        transform_(exec, patterns, grid.rows, grid.columns),
        transmission_("transmission", wave.extent(0), wave.extent(1), wave.extent(2)),
        of_row_("propagator of rows", wave.extent(0), wave.extent(1)),
        of_column_("propagator of columns", wave.extent(0), wave.extent(2)),
        table_("potentials of atoms", species_count, squares) {
    auto const host = Kokkos::create_mirror_view(table_);
    for (int s = 0; s < species_count; ++s)
      for (int i = 0; i < squares; ++i)
        host(s, i) =
            float(species[s].projected_potential(cutoff * std::sqrt(double(i) / (squares - 1))));
    Kokkos::deep_copy(table_, host);
  }

  /// Convergent probes with an aperture of this radius, 1 / Angstrom.
  void start_probe(Space const& exec, double aperture,
                   Kokkos::View<double const*, Space> const& defocus) {
    long open = 0;
    for (int i = 0; i < grid_.rows; ++i)
      for (int j = 0; j < grid_.columns; ++j) {
        double const f = frequency(i, grid_.rows), g = frequency(j, grid_.columns);
        open += f * f + g * g <= aperture * aperture * grid_.extent * grid_.extent;
      }
    double const amplitude = 1 / std::sqrt(double(open) * pixels());
    each_pixel(exec, "probe",
               FillProbe{wave, defocus, wavelength_, grid_.extent, aperture, float(amplitude)});
    transform_.backward(exec, wave);
  }

  /// The phase of one slice. strength: of the potentials, 1 for atoms.
  void transmit(Space const& exec, SlicedAtoms const& atoms, int slice, double strength = 1) {
    Kokkos::parallel_for(
        "project potential",
        Kokkos::RangePolicy<Space>(exec, 0, wave.extent_int(0) * wave.extent_int(1)),
        ProjectPotential{potential, atoms, slice, table_, float(cutoff), float(grid_.extent),
                         float(strength)});
    each_pixel(exec, "make transmission",
               MakeTransmission{transmission_, potential, float(interaction_)});
    if (band_limit_) {
      transform_.forward(exec, transmission_);
      each_pixel(exec, "limit band", LimitBand{transmission_, float(1 / pixels())});
      transform_.backward(exec, transmission_);
    }
    each_pixel(exec, "transmit", Transmit{wave, transmission_});
  }

  /// Distances of the next calls of `propagate`, one for each pattern.
  void set_distances(Space const& exec, Kokkos::View<double const*, Space> const& distance) {
    Kokkos::RangePolicy<Space> const each(exec, 0, wave.extent_int(0));
    double const factor = 1 / std::sqrt(pixels());
    Kokkos::parallel_for(
        "propagator", each,
        MakePropagator{of_row_, distance, wavelength_, grid_.extent, factor, band_limit_});
    Kokkos::parallel_for(
        "propagator", each,
        MakePropagator{of_column_, distance, wavelength_, grid_.extent, factor, band_limit_});
  }
  void propagate(Space const& exec) {
    transform_.forward(exec, wave);
    each_pixel(exec, "propagate", Propagate{wave, of_row_, of_column_});
    transform_.backward(exec, wave);
  }

  using Shifts = Kokkos::View<int const**, Kokkos::LayoutRight, Space>;

  /// Shares of the electrons at the pixels of a detector in the far field, whose direct beam is
  /// `shift` (patterns, 2) rows and columns from the middle. The wave is used up.
  void detect(Space const& exec, Images const& share, Shifts const& shift) {
    transform_.forward(exec, wave);
    Kokkos::parallel_for(
        "detect",
        Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>>(
            exec, {0, 0, 0}, {share.extent_int(0), share.extent_int(1), share.extent_int(2)}),
        Detect{share, wave, shift, float(1 / pixels())});
  }

 private:
  double pixels() const { return double(grid_.rows) * grid_.columns; }

  template <class Functor>
  void each_pixel(Space const& exec, char const* label, Functor const& functor) const {
    Kokkos::parallel_for(
        label,
        Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>>(
            exec, {0, 0, 0}, {wave.extent_int(0), wave.extent_int(1), wave.extent_int(2)}),
        functor);
  }

  Grid grid_;
  double wavelength_, interaction_;
  bool band_limit_;
  FourierTransform transform_;
  Waves transmission_;
  Kokkos::View<Wave**, Kokkos::LayoutRight, Space> of_row_, of_column_;
  Kokkos::View<float**, Kokkos::LayoutRight, Space> table_;
};

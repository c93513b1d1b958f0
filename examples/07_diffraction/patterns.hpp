// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "crystal.hpp"
#include "multislice.hpp"

#include <phyllo/core/random_normal.hpp>

// Diffraction patterns of random crystals. The class of a pattern is its crystal's lattice, element
// and tilt; all other parameters are drawn.

inline constexpr int pattern_rows = 120, pattern_columns = 85, class_count = 27;
inline constexpr char const* lattice_names[] = {"simple cubic", "body-centred", "face-centred"};
inline constexpr double tilts[] = {0, 0.025, 0.05};  // radians

/// What a set of patterns depends on.
struct PatternOptions {
  std::uint64_t seed = 1;
  double dose = 1e5;  // electrons of a pattern, geometric mean; 0: no noise
};

/// From shares of the electrons to the pixels of an image: the square root of the number of
/// electrons, in units in which the mean number of a pixel is about one.
///
/// numerics a Poisson number by inversion, from 30 electrons on by the normal distribution of the
///          same mean and variance
struct CountElectrons {
  Images images;                            // shares, then pixels
  Kokkos::View<double const*, Space> dose;  // (patterns), electrons
  double mean_dose;
  bool noise;
  std::uint64_t seed;
  long first;  // number of the first pattern

  KOKKOS_FUNCTION void operator()(int p, int i, int j) const {
    double count = double(images(p, i, j)) * dose(p);
    if (noise) {
      phyllo::RandomKey key{seed, 1, 0, std::uint64_t(first + p),
                            std::uint32_t(i * images.extent_int(2) + j)};
      if (count < 30) {
        count = poisson(count, double(phyllo::random_uniform(key)));
      } else {
        key.position = 1;
        double const deviation = Kokkos::sqrt(count) * double(phyllo::random_normal(key));
        count = Kokkos::fmax(0.0, Kokkos::round(count + deviation));
      }
    }
    images(p, i, j) =
        float(Kokkos::sqrt(count / mean_dose * images.extent_int(1) * images.extent_int(2)));
  }
  KOKKOS_FUNCTION static double poisson(double mean, double uniform) {
    double probability = Kokkos::exp(-mean), sum = probability;
    int n = 0;
    while (uniform >= sum && n < 200) {
      probability *= mean / ++n;
      sum += probability;
    }
    return n;
  }
};

/// Simulates patterns by their numbers: the same pattern for a number, whatever is simulated with
/// it.
class PatternSimulator {
 public:
  static constexpr int slices = 12;
  static constexpr double volts = 100e3;
  static constexpr double aperture = 0.22;  // 1 / Angstrom: 8.1 mrad

  static constexpr int largest_shift = 10;  // of the direct beam on the detector, pixels

  PatternSimulator(Space const& exec, PatternOptions const& options, int batch)
      : options_(options),
        batch_(batch),
        multislice_(exec, batch, grid_, volts),
        images_("images", std::size_t(batch), pattern_rows, pattern_columns) {}

  int batch() const { return batch_; }
  static int class_of(long number) { return int(number % class_count); }

  /// Patterns first to first + batch, (batch, rows, columns) on the host.
  auto simulate(Space const& exec, long first) {
    AtomSlicer slicer(batch_, slices);
    Kokkos::View<double*, Space> const defocus("defocus", std::size_t(batch_)),
        distance("distance", std::size_t(batch_)), dose("dose", std::size_t(batch_));
    Kokkos::View<int**, Kokkos::LayoutRight, Space> const shift("shift", std::size_t(batch_), 2);
    auto const shift_host = Kokkos::create_mirror_view(shift);
    auto const defocus_host = Kokkos::create_mirror_view(defocus);
    auto const distance_host = Kokkos::create_mirror_view(distance);
    auto const dose_host = Kokkos::create_mirror_view(dose);
    double const mean_dose = options_.dose > 0 ? options_.dose : 1;
    for (int p = 0; p < batch_; ++p) {
      long const number = first + p;
      Crystal const crystal = crystal_of(number);
      slicer.add(crystal.atoms(grid_.extent), crystal.thickness, class_of(number) / 3 % 3);
      defocus_host(p) = 600 * uniform(number, 8) - 300;
      distance_host(p) = crystal.thickness / slices;
      for (std::uint32_t d = 0; d < 2; ++d)
        shift_host(p, d) =
            int(std::floor((2 * largest_shift + 1) * uniform(number, 10 + d))) - largest_shift;
      dose_host(p) = mean_dose * std::exp2(4 * uniform(number, 9) - 2);
    }
    Kokkos::deep_copy(exec, defocus, defocus_host);
    Kokkos::deep_copy(exec, distance, distance_host);
    Kokkos::deep_copy(exec, dose, dose_host);
    Kokkos::deep_copy(exec, shift, shift_host);
    SlicedAtoms const atoms = slicer.atoms();
    multislice_.start_probe(exec, aperture, defocus);
    multislice_.set_distances(exec, distance);
    for (int s = 0; s < slices; ++s) {
      multislice_.transmit(exec, atoms, s);
      if (s + 1 < slices) multislice_.propagate(exec);
    }
    multislice_.detect(exec, images_, shift);
    Kokkos::parallel_for(
        "count electrons",
        Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>>(exec, {0, 0, 0},
                                                      {batch_, pattern_rows, pattern_columns}),
        CountElectrons{images_, dose, mean_dose, options_.dose > 0, options_.seed, first});
    exec.fence("patterns");
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), images_);
  }

 private:
  double uniform(long number, std::uint32_t what) const {
    return double(phyllo::random_uniform({options_.seed, 0, what, std::uint64_t(number), 0}));
  }
  Crystal crystal_of(long number) const {
    int const kind = class_of(number);
    Crystal crystal;
    crystal.lattice = Lattice(kind / 9);
    crystal.neighbours = 2.7 * (0.95 + 0.1 * uniform(number, 0));
    crystal.rotation = 2 * pi * uniform(number, 1);
    crystal.tilt = tilts[kind % 3] + 0.005 * (2 * uniform(number, 2) - 1);
    crystal.azimuth = 2 * pi * uniform(number, 3);
    crystal.offset = {uniform(number, 4), uniform(number, 5), uniform(number, 6)};
    crystal.thickness = 28 + 36 * uniform(number, 7);
    return crystal;
  }

  Grid grid_;
  PatternOptions options_;
  int batch_;
  Multislice multislice_;
  Images images_;
};

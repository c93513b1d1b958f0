// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The simulation beside closed forms and symmetries.

#include "patterns.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <complex>

namespace {

constexpr double volts = 100e3;
Grid const small = {48, 32, 12};  // Angstrom; frequencies of multiples of 1/12

using HostWaves = decltype(Kokkos::create_mirror_view(std::declval<Waves>()));

HostWaves on_host(Waves const& wave) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), wave);
}

double sum_of_squares(Waves const& wave, int pattern) {
  auto const host = on_host(wave);
  double sum = 0;
  for (std::size_t i = 0; i < host.extent(1); ++i)
    for (std::size_t j = 0; j < host.extent(2); ++j)
      sum +=
          std::norm(std::complex<double>(host(pattern, i, j).real(), host(pattern, i, j).imag()));
  return sum;
}

Kokkos::View<double*, Space> constant(double value, std::size_t patterns) {
  Kokkos::View<double*, Space> const all("constant", patterns);
  Kokkos::deep_copy(all, value);
  return all;
}

void fill_plane_wave(Waves const& wave) {
  double const pixels = double(wave.extent(1) * wave.extent(2));
  Kokkos::deep_copy(wave, Kokkos::complex<float>(float(1 / std::sqrt(pixels)), 0));
}

// Shares of the electrons of pattern 0 in the whole far field, the direct beam in the middle.
auto far_field(Space const& exec, Multislice& slices) {
  Images const share("share", slices.wave.extent(0), slices.wave.extent(1), slices.wave.extent(2));
  slices.detect(exec, share,
                Kokkos::View<int**, Kokkos::LayoutRight, Space>("shift", share.extent(0), 2));
  exec.fence();
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), share);
}

using Atoms = std::vector<Crystal::Vector>;

Atoms const without_centre = {{2.1, 1.3, 1}, {5.2, 8.4, 1}, {9.7, 11.1, 1}};

SlicedAtoms one_pattern(Atoms const& atoms, double thickness, int slices, int kind) {
  AtomSlicer slicer(1, slices);
  slicer.add(atoms, thickness, kind);
  return slicer.atoms();
}

}  // namespace

TEST_CASE("wavelengths and interaction constants are those of tables") {
  // Kirkland (2010), table 2.2 and table 5.1.
  CHECK(wavelength(100e3) == doctest::Approx(0.0370).epsilon(1e-3));
  CHECK(wavelength(200e3) == doctest::Approx(0.02508).epsilon(1e-3));
  CHECK(interaction(100e3) == doctest::Approx(0.9244e-3).epsilon(1e-3));
  CHECK(interaction(200e3) == doctest::Approx(0.7288e-3).epsilon(1e-3));
}

TEST_CASE("scattering factors obey Mott and Bethe's formula") {
  // Factors at zero: Doyle and Turner, Acta Cryst. A24 (1968) 390. At large s: that of the nucleus,
  // Z / (8 pi^2 a0 s^2), less the part of the electrons.
  double const zero[] = {5.889, 5.600, 10.573}, number[] = {13, 29, 79};
  for (int i = 0; i < species_count; ++i) {
    Species cold = species[i];
    cold.thermal = 0;
    CHECK(cold.factor(0) == doctest::Approx(zero[i]).epsilon(0.01));
    double const s = 1.5, nucleus = 0.0239336 * number[i] / (s * s);
    CHECK(cold.factor(2 * s) < nucleus);
    CHECK(cold.factor(2 * s) > 0.7 * nucleus);
  }
}

TEST_CASE("the total intensity is conserved through a thick crystal") {
  Space const exec;
  Crystal crystal;
  crystal.thickness = 40;
  int const count = 10;
  for (int kind = 0; kind < species_count; ++kind) {
    SlicedAtoms const atoms =
        one_pattern(crystal.atoms(small.extent), crystal.thickness, count, kind);
    Multislice slices(exec, 1, small, volts, false);
    slices.start_probe(exec, 0.3, constant(100, 1));
    CHECK(sum_of_squares(slices.wave, 0) == doctest::Approx(1).epsilon(1e-5));
    slices.set_distances(exec, constant(crystal.thickness / count, 1));
    for (int s = 0; s < count; ++s) {
      slices.transmit(exec, atoms, s);
      slices.propagate(exec);
    }
    exec.fence();
    CHECK(std::abs(sum_of_squares(slices.wave, 0) - 1) < 1e-5);
    auto const share = far_field(exec, slices);
    double sum = 0, beside = 0;
    for (std::size_t i = 0; i < share.extent(1); ++i)
      for (std::size_t j = 0; j < share.extent(2); ++j) {
        sum += share(0, i, j);
        if (std::hypot(double(i) - 24, double(j) - 16) > 0.3 * small.extent + 1)
          beside += share(0, i, j);
      }
    CHECK(std::abs(sum - 1) < 1e-5);
    CHECK(beside > 0.05);  // much was scattered
  }
}

TEST_CASE("a Gaussian wave widens in free space by the closed form") {
  Space const exec;
  Grid const grid = {128, 96, 32};
  Multislice slices(exec, 2, grid, volts);
  double const width = 1.5, distance[] = {200, 600};
  auto const host = Kokkos::create_mirror_view(slices.wave);
  auto const expected = [&](double i, double j, double z) {
    double const y = i * grid.extent / grid.rows - grid.extent / 2;
    double const x = j * grid.extent / grid.columns - grid.extent / 2;
    std::complex<double> const wide(width * width, wavelength(volts) * z / (2 * pi));
    return width * width / wide * std::exp(-(x * x + y * y) / (2.0 * wide));
  };
  for (int p = 0; p < 2; ++p)
    for (int i = 0; i < grid.rows; ++i)
      for (int j = 0; j < grid.columns; ++j) host(p, i, j) = float(expected(i, j, 0).real());
  Kokkos::deep_copy(slices.wave, host);
  Kokkos::View<double*, Space> const z("distance", 2);
  auto const z_host = Kokkos::create_mirror_view(z);
  for (int p = 0; p < 2; ++p) z_host(p) = distance[p] / 3;
  Kokkos::deep_copy(z, z_host);
  slices.set_distances(exec, z);
  for (int step = 0; step < 3; ++step) slices.propagate(exec);
  exec.fence();
  Kokkos::deep_copy(host, slices.wave);
  double furthest = 0;
  for (int p = 0; p < 2; ++p)
    for (int i = 0; i < grid.rows; ++i)
      for (int j = 0; j < grid.columns; ++j) {
        auto const z_of = host(p, i, j);
        furthest = std::max(furthest, std::abs(std::complex<double>(z_of.real(), z_of.imag()) -
                                               expected(i, j, distance[p])));
      }
  CHECK(furthest < 1e-5);
  CHECK(std::abs(expected(64, 48, distance[1])) < 0.6);  // the wave has changed
}

TEST_CASE("a weak phase object scatters as the kinematic theory says") {
  Space const exec;
  double const strength = 1e-3;
  Grid const fine = {128, 96, 12};
  for (int kind = 0; kind < species_count; ++kind) {
    Multislice slices(exec, 1, fine, volts);
    fill_plane_wave(slices.wave);
    slices.transmit(exec, one_pattern(without_centre, 2, 1, kind), 0, strength);
    auto const share = far_field(exec, slices);
    double furthest = 0, largest = 0;
    for (int f = -12; f <= 12; ++f)
      for (int g = -8; g <= 8; ++g) {
        if (f == 0 && g == 0) continue;
        std::complex<double> sum = 0;
        for (auto const& atom : without_centre)
          sum += std::polar(1.0, -2 * pi * (f * atom[0] + g * atom[1]) / fine.extent);
        double const amplitude = interaction(volts) * strength * Species::potential_of_factor *
                                 species[kind].factor(std::hypot(f, g) / fine.extent) /
                                 (fine.extent * fine.extent);
        double const expected = std::norm(amplitude * sum);
        furthest = std::max(furthest, std::abs(share(0, 64 + f, 48 + g) - expected));
        largest = std::max(largest, expected);
      }
    CHECK(furthest < 0.003 * largest);
  }
}

TEST_CASE("an atom attracts electrons: the wave is focused behind it") {
  Space const exec;
  Multislice slices(exec, 1, small, volts);
  fill_plane_wave(slices.wave);
  slices.transmit(exec, one_pattern({{6, 6, 1}}, 2, 1, 1), 0);
  slices.set_distances(exec, constant(10, 1));
  slices.propagate(exec);
  exec.fence();
  auto const at_atom = on_host(slices.wave)(0, 24, 16);
  double const pixels = 48 * 32, before = 1 / pixels;
  double const intensity =
      double(at_atom.real()) * at_atom.real() + double(at_atom.imag()) * at_atom.imag();
  CHECK(intensity > 1.2 * before);

  // Two thirds of the highest frequencies: 16 rows and 10 columns from the direct beam.
  auto const share = far_field(exec, slices);
  double beyond = 0;
  for (int i = 0; i < 48; ++i)
    for (int j = 0; j < 32; ++j)
      if (std::abs(i - 24) > 16 || std::abs(j - 16) > 10) beyond += share(0, i, j);
  CHECK(beyond < 1e-12);
  CHECK(share(0, 24 + 16, 16) > 1e-9);
  CHECK(share(0, 24, 16 - 10) > 1e-9);
}

TEST_CASE("Friedel's law holds for weak objects and for objects with a centre, and only for them") {
  Space const exec;
  auto const asymmetry = [&](Atoms const& atoms, double strength) {
    int const count = 4;
    Multislice slices(exec, 1, small, volts);
    SlicedAtoms const sliced = one_pattern(atoms, 8, count, 2);
    fill_plane_wave(slices.wave);
    slices.set_distances(exec, constant(10, 1));
    for (int s = 0; s < count; ++s) {
      slices.transmit(exec, sliced, s, strength);
      slices.propagate(exec);
    }
    auto const share = far_field(exec, slices);
    double difference = 0, sum = 0;
    for (int f = -12; f <= 12; ++f)
      for (int g = -8; g <= 8; ++g) {
        if (f == 0 && g == 0) continue;
        difference += std::abs(share(0, 24 + f, 16 + g) - share(0, 24 - f, 16 - g));
        sum += share(0, 24 + f, 16 + g);
      }
    return difference / sum;
  };
  Atoms flat = without_centre, centred;
  for (auto const& atom : without_centre)
    for (double depth : {1.0, 5.0}) {
      centred.push_back({atom[0], atom[1], depth});
      centred.push_back({small.extent - atom[0], small.extent - atom[1], depth});
    }
  Atoms deep = without_centre;
  deep[1][2] = 5;
  deep[2][2] = 7;
  CHECK(asymmetry(flat, 1e-3) < 5e-3);
  CHECK(asymmetry(centred, 1e-3) < 5e-3);
  CHECK(asymmetry(centred, 1) < 1e-3);
  CHECK(asymmetry(deep, 1) > 0.02);
}

TEST_CASE("crystals have the density and the nearest neighbours of their lattice") {
  for (Lattice const lattice :
       {Lattice::simple_cubic, Lattice::body_centred, Lattice::face_centred}) {
    Crystal crystal;
    crystal.lattice = lattice;
    crystal.rotation = 0.3;
    crystal.tilt = 0.1;
    crystal.azimuth = 1.1;
    crystal.offset = {0.1, 0.2, 0.3};
    auto const atoms = crystal.atoms(32);
    int const of_cell = lattice == Lattice::simple_cubic   ? 1
                        : lattice == Lattice::body_centred ? 2
                                                           : 4;
    double const expected = 32 * 32 * crystal.thickness * of_cell / std::pow(crystal.constant(), 3);
    CHECK(double(atoms.size()) == doctest::Approx(expected).epsilon(0.02));
    double nearest = 1e9;
    for (std::size_t n = 1; n < atoms.size(); ++n)
      nearest = std::min(nearest, std::hypot(atoms[n][0] - atoms[0][0], atoms[n][1] - atoms[0][1],
                                             atoms[n][2] - atoms[0][2]));
    CHECK(nearest == doctest::Approx(crystal.neighbours).epsilon(1e-9));
  }
}

TEST_CASE("a pattern depends on its number alone, and on the seed") {
  Space const exec;
  auto const three = PatternSimulator(exec, {}, 3).simulate(exec, 30);
  auto const one = PatternSimulator(exec, {}, 1).simulate(exec, 31);
  auto const other = PatternSimulator(exec, {.seed = 2}, 1).simulate(exec, 31);
  long different = 0, of_other_seed = 0;
  for (std::size_t i = 0; i < one.extent(1); ++i)
    for (std::size_t j = 0; j < one.extent(2); ++j) {
      different += three(1, i, j) != one(0, i, j);
      of_other_seed += other(0, i, j) != one(0, i, j);
    }
  CHECK(different == 0);
  CHECK(of_other_seed > 1000);
}

TEST_CASE("numbers of electrons have the mean and the variance of Poisson's distribution") {
  Space const exec;
  std::size_t const side = 120;
  for (double const mean : {0.3, 6.0, 29.0, 300.0}) {
    Images const images("images", 1, side, side);
    Kokkos::deep_copy(images, float(mean / 1000));
    Kokkos::parallel_for(
        "count electrons",
        Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>>(exec, {0, 0, 0}, {1, side, side}),
        CountElectrons{images, constant(1000, 1), 1000, true, 7, 0});
    exec.fence();
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), images);
    double sum = 0, squares = 0, from_whole = 0;
    double const samples = double(side * side);
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) {
        double const count = double(host(0, i, j)) * host(0, i, j) * 1000 / samples;
        from_whole = std::max(from_whole, std::abs(count - std::round(count)));
        sum += count;
        squares += count * count;
      }
    double const variance = squares / samples - sum / samples * sum / samples;
    CHECK(from_whole < 1e-3);
    // Five standard deviations of the estimates.
    CHECK(std::abs(sum / samples - mean) < 5 * std::sqrt(mean / samples));
    CHECK(std::abs(variance - mean) < 5 * std::sqrt((2 * mean * mean + mean) / samples));
  }
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  doctest::Context context(argc, argv);
  return context.run();
}

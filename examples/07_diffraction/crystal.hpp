// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "multislice_kernels.hpp"
#include "scattering.hpp"

#include <algorithm>
#include <array>
#include <vector>

/// Cubic lattices of one kind of atom.
enum class Lattice { simple_cubic, body_centred, face_centred };

/// A crystal under the beam, which comes along [001] but for a tilt.
struct Crystal {
  Lattice lattice = Lattice::face_centred;
  double neighbours = 2.7;       // distance of nearest atoms, Angstrom
  double rotation = 0;           // around the beam, radians
  double tilt = 0, azimuth = 0;  // from the beam, around an axis with this azimuth, radians
  std::array<double, 3> offset = {0, 0, 0};  // of an atom from the middle, in lattice constants
  double thickness = 48;                     // Angstrom

  /// The edge of the cube, Angstrom.
  double constant() const {
    return lattice == Lattice::simple_cubic   ? neighbours
           : lattice == Lattice::body_centred ? neighbours * 2 / std::sqrt(3.0)
                                              : neighbours * std::sqrt(2.0);
  }

  using Vector = std::array<double, 3>;

  /// Positions of all atoms in a column of this square and the crystal's thickness: row, column,
  /// depth, Angstrom.
  std::vector<Vector> atoms(double extent) const {
    static constexpr Vector basis[] = {
        {0, 0, 0}, {0.5, 0.5, 0.5}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    auto const uses = [this](int b) {
      return b == 0 ||
             (b == 1 ? lattice == Lattice::body_centred : lattice == Lattice::face_centred);
    };
    std::array<Vector, 3> const r = axes();
    double const half[] = {extent / 2, extent / 2, thickness / 2}, edge = constant();
    int const cells = int(std::ceil(std::hypot(half[0], half[1], half[2]) / edge)) + 2;
    std::vector<Vector> inside;
    for (int i = -cells; i <= cells; ++i)
      for (int j = -cells; j <= cells; ++j)
        for (int k = -cells; k <= cells; ++k)
          for (int b = 0; b < 5; ++b) {
            if (!uses(b)) continue;
            Vector const n = {edge * (i + basis[b][0] + offset[0]),
                              edge * (j + basis[b][1] + offset[1]),
                              edge * (k + basis[b][2] + offset[2])};
            Vector at;
            bool is_inside = true;
            for (std::size_t d = 0; d < 3; ++d) {
              at[d] = r[d][0] * n[0] + r[d][1] * n[1] + r[d][2] * n[2] + half[d];
              is_inside = is_inside && at[d] >= 0 && at[d] < 2 * half[d];
            }
            if (is_inside) inside.push_back(at);
          }
    return inside;
  }

 private:
  static std::array<Vector, 3> product(std::array<Vector, 3> const& a,
                                       std::array<Vector, 3> const& b) {
    std::array<Vector, 3> c{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
  }
  static std::array<Vector, 3> around_beam(double angle) {
    double const c = std::cos(angle), s = std::sin(angle);
    return {Vector{c, -s, 0}, Vector{s, c, 0}, Vector{0, 0, 1}};
  }
  // From the crystal's directions to those of the grid.
  std::array<Vector, 3> axes() const {
    double const c = std::cos(tilt), s = std::sin(tilt);
    std::array<Vector, 3> const tilted = {Vector{1, 0, 0}, Vector{0, c, -s}, Vector{0, s, c}};
    return product(around_beam(azimuth), product(tilted, around_beam(rotation - azimuth)));
  }
};

/// Sorts the atoms of crystals, one for each pattern, into slices of equal thickness.
class AtomSlicer {
 public:
  AtomSlicer(int patterns, int slices)
      : slices_(slices),
        first_("first atoms", std::size_t(patterns), std::size_t(slices) + 1),
        species_("species", std::size_t(patterns)) {}

  /// The next pattern: row, column and depth of its atoms.
  void add(std::vector<Crystal::Vector> const& atoms, double thickness, int kind) {
    std::vector<std::vector<Crystal::Vector>> slice(static_cast<std::size_t>(slices_));
    for (auto const& atom : atoms) {
      int const s = int(atom[2] / thickness * slices_);
      slice[std::size_t(std::clamp(s, 0, slices_ - 1))].push_back(atom);
    }
    for (int s = 0; s < slices_; ++s) {
      first_(patterns_, s) = int(at_.size());
      at_.insert(at_.end(), slice[std::size_t(s)].begin(), slice[std::size_t(s)].end());
    }
    first_(patterns_, slices_) = int(at_.size());
    species_(patterns_++) = kind;
  }

  SlicedAtoms atoms() const {
    Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> at("atoms", at_.size(), 2);
    for (std::size_t n = 0; n < at_.size(); ++n)
      at(n, 0) = float(at_[n][0]), at(n, 1) = float(at_[n][1]);
    return {Kokkos::create_mirror_view_and_copy(Space(), at),
            Kokkos::create_mirror_view_and_copy(Space(), first_),
            Kokkos::create_mirror_view_and_copy(Space(), species_)};
  }

 private:
  int slices_, patterns_ = 0;
  std::vector<Crystal::Vector> at_;
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> first_;
  Kokkos::View<int*, Kokkos::HostSpace> species_;
};

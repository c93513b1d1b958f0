// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mesh.hpp"

#include <cmath>

// What is drawn for a square: the temperature, a sum of waves, and discs that conduct ten times
// better than the rest.
struct Scene {
  static constexpr int waves = 6, discs = 3;
  double wave[waves][3];  // wave vector and phase
  double disc[discs][3];  // centre and radius

  static Scene draw(std::mt19937& random, int cells) {
    auto const uniform = [&](double low, double high) {
      return low + (high - low) * double(random()) / 4294967296.0;
    };
    Scene s;
    for (auto& w : s.wave) {
      double const length = uniform(0.1, 1.2), angle = uniform(0, 6.2831853);
      w[0] = length * std::cos(angle), w[1] = length * std::sin(angle),
      w[2] = uniform(0, 6.2831853);
    }
    for (auto& d : s.disc)
      d[0] = uniform(0, cells), d[1] = uniform(0, cells), d[2] = cells * uniform(0.1, 0.3);
    return s;
  }
  KOKKOS_FUNCTION double temperature(double x, double y) const {
    double sum = 0;
    for (auto const& w : wave) sum += Kokkos::sin(w[0] * x + w[1] * y + w[2]);
    return sum / 2;
  }
  KOKKOS_FUNCTION double conductivity(double x, double y) const {
    for (auto const& d : disc)
      if ((x - d[0]) * (x - d[0]) + (y - d[1]) * (y - d[1]) < d[2] * d[2]) return 10;
    return 1;
  }
};

// One implicit step of the heat equation by linear finite elements: (M + dt K) (u' - u) = -dt K u,
// with insulated borders. K depends on the conductivity of each triangle. The change u' - u is
// found by conjugate gradients.
class Heat {
 public:
  static constexpr double time_step = 2;  // with conductivity one, heat moves two cells

  explicit Heat(Mesh const& m) : mesh(m) {
    auto const size = std::size_t(mesh.nodes());
    for (auto* v : {&temperature, &source, &diagonal, &change, &residual_, &direction_, &product_})
      *v = Numbers("heat", size);
    matrix = Numbers("matrix", mesh.entries.extent(0));
    stiffness_ = Numbers("stiffness", mesh.entries.extent(0));
    scenes_ = Kokkos::View<Scene*, Space>("scenes", std::size_t(mesh.squares));
  }

  // Other temperatures and discs on every square.
  void draw(Space const& exec, std::mt19937& random) {
    int const cells = int(std::lround(std::sqrt(double(mesh.nodes_of_square)))) - 1;
    auto const host = Kokkos::create_mirror_view(scenes_);
    for (int s = 0; s < mesh.squares; ++s) host(s) = Scene::draw(random, cells);
    Kokkos::deep_copy(exec, scenes_, host);
    exec.fence("scenes");
    assemble(exec);
    solve(exec);
  }
  double conductivity(int node, double x, double y) const {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scenes_);
    return host(node / mesh.nodes_of_square).conductivity(x, y);
  }

  Mesh mesh;
  Numbers temperature, source, diagonal;  // u, -dt K u, the diagonal of M + dt K
  Numbers change;                         // u' - u
  Numbers matrix;                         // M + dt K, entries as the mesh's

  // y = matrix x, for nodes of all squares.
  void multiply(Space const& exec, Numbers const& values, Numbers const& x,
                Numbers const& y) const {
    auto const row_map = mesh.row_map, entries = mesh.entries;
    Kokkos::parallel_for(
        "multiply", Kokkos::RangePolicy(exec, 0, mesh.nodes()), KOKKOS_LAMBDA(int i) {
          double sum = 0;
          for (int k = row_map(i); k < row_map(i + 1); ++k) sum += values(k) * x(entries(k));
          y(i) = sum;
        });
  }

  // Every row is assembled by its node, from the triangles at it: sums have one order.
  void assemble(Space const& exec) const {
    auto const m = mesh;
    auto const scenes = scenes_;
    auto const all = matrix, stiff = stiffness_, u = temperature, d = diagonal;
    Kokkos::parallel_for(
        "assemble", Kokkos::RangePolicy(exec, 0, m.nodes()), KOKKOS_LAMBDA(int i) {
          Scene const& scene = scenes(i / m.nodes_of_square);
          u(i) = scene.temperature(m.x(i), m.y(i));
          int const first = m.row_map(i), last = m.row_map(i + 1);
          for (int e = first; e < last; ++e) all(e) = stiff(e) = 0;
          for (int t = m.first_triangle(i); t < m.first_triangle(i + 1); ++t) {
            int own = 0, corner[3];
            double x[3], y[3];
            for (int k = 0; k < 3; ++k) {
              corner[k] = m.corners(m.triangles_of_node(t), k);
              if (corner[k] == i) own = k;
              x[k] = m.x(corner[k]), y[k] = m.y(corner[k]);
            }
            double const area = ((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])) / 2;
            double const conductivity =
                scene.conductivity((x[0] + x[1] + x[2]) / 3, (y[0] + y[1] + y[2]) / 3);
            // Gradients of the hat functions times twice the area.
            double b[3], c[3];
            for (int k = 0; k < 3; ++k) {
              b[k] = y[(k + 1) % 3] - y[(k + 2) % 3];
              c[k] = x[(k + 2) % 3] - x[(k + 1) % 3];
            }
            for (int k = 0; k < 3; ++k) {
              int e = first;
              while (m.entries(e) != corner[k]) ++e;
              double const value =
                  time_step * conductivity * (b[own] * b[k] + c[own] * c[k]) / (4 * area);
              stiff(e) += value;
              all(e) += value + area / (k == own ? 6 : 12);
            }
          }
          for (int e = first; e < last; ++e)
            if (m.entries(e) == i) d(i) = all(e);
        });
    multiply(exec, stiff, u, source);
    auto const b = source;
    Kokkos::parallel_for(
        "source", Kokkos::RangePolicy(exec, 0, m.nodes()), KOKKOS_LAMBDA(int i) { b(i) = -b(i); });
  }

  // Conjugate gradients with the diagonal as preconditioner. Returns the number of iterations.
  int solve(Space const& exec) const {
    auto const u = change, r = residual_, p = direction_, q = product_, d = diagonal, b = source;
    Kokkos::RangePolicy const all(exec, 0, mesh.nodes());
    Kokkos::parallel_for(
        "begin", all, KOKKOS_LAMBDA(int i) {
          u(i) = 0;
          r(i) = b(i);
          p(i) = r(i) / d(i);
        });
    double square = product(all, r), most = 1e-20 * square;
    int iterations = 0;
    for (; square > most && iterations < 1000; ++iterations) {
      multiply(exec, matrix, p, q);
      double step = 0;
      Kokkos::parallel_reduce(
          "p A p", all, KOKKOS_LAMBDA(int i, double& sum) { sum += p(i) * q(i); }, step);
      step = square / step;
      Kokkos::parallel_for(
          "step", all, KOKKOS_LAMBDA(int i) {
            u(i) += step * p(i);
            r(i) -= step * q(i);
          });
      double const before = square;
      square = product(all, r);
      double const keep = square / before;
      Kokkos::parallel_for("turn", all, KOKKOS_LAMBDA(int i) { p(i) = r(i) / d(i) + keep * p(i); });
    }
    return iterations;
  }

  // The sum of r^2 over the diagonal.
  double product(Kokkos::RangePolicy<Space> const& all, Numbers const& r) const {
    auto const d = diagonal;
    double result = 0;
    Kokkos::parallel_reduce(
        "r r", all, KOKKOS_LAMBDA(int i, double& sum) { sum += r(i) * r(i) / d(i); }, result);
    return result;
  }

 private:
  Numbers stiffness_, residual_, direction_, product_;
  Kokkos::View<Scene*, Space> scenes_;
};

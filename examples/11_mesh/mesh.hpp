// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Numbers = Kokkos::View<double*, Space>;
using Integers = Kokkos::View<int*, Space>;

inline Integers on_device(char const* name, std::vector<int> const& from) {
  using Host = Kokkos::View<int const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Integers const to(name, from.size());
  Kokkos::deep_copy(to, Host(from.data(), from.size()));
  return to;
}

// Triangles on several squares of cells x cells, which share no node: nodes of a lattice of width
// one, moved at random inside, with a random diagonal in every cell.
struct Mesh {
  int squares, nodes_of_square;
  Numbers x, y;                                // (nodes)
  Kokkos::View<int* [3], Space> corners;       // (triangles)
  Integers first_triangle, triangles_of_node;  // compressed rows: the triangles at a node
  Integers row_map, entries;                   // compressed rows: a node and its neighbours

  Mesh(int number_of_squares, int cells, unsigned seed)
      : squares(number_of_squares), nodes_of_square((cells + 1) * (cells + 1)) {
    std::mt19937 random(seed);
    auto const move = [&random] { return 0.5 * double(random()) / 4294967296.0 - 0.25; };
    x = Numbers("x", std::size_t(nodes()));
    y = Numbers("y", std::size_t(nodes()));
    corners = Kokkos::View<int* [3], Space>("corners", std::size_t(2 * squares * cells * cells));
    auto const host_x = Kokkos::create_mirror_view(x), host_y = Kokkos::create_mirror_view(y);
    auto const host_corners = Kokkos::create_mirror_view(corners);
    std::vector<std::vector<int>> triangles(static_cast<std::size_t>(nodes())),
        neighbours = triangles;
    int triangle = 0;
    auto const add = [&](int a, int b, int c) {
      int const corner[] = {a, b, c};
      for (int k = 0; k < 3; ++k) {
        host_corners(triangle, k) = corner[k];
        auto const node = std::size_t(corner[k]);
        triangles[node].push_back(triangle);
        neighbours[node].insert(neighbours[node].end(), corner, corner + 3);
      }
      ++triangle;
    };
    for (int square = 0; square < squares; ++square)
      for (int i = 0; i <= cells; ++i)
        for (int j = 0; j <= cells; ++j) {
          int const node = square * nodes_of_square + i * (cells + 1) + j;
          host_x(node) = j + (j % cells != 0 ? move() : 0);
          host_y(node) = i + (i % cells != 0 ? move() : 0);
          if (i == cells || j == cells) continue;
          int const right = node + 1, up = node + cells + 1, far = up + 1;
          if (random() % 2 == 0)
            add(node, right, far), add(node, far, up);
          else
            add(node, right, up), add(right, far, up);
        }
    Kokkos::deep_copy(x, host_x);
    Kokkos::deep_copy(y, host_y);
    Kokkos::deep_copy(corners, host_corners);
    for (auto& row : neighbours) {
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    compress(triangles, first_triangle, triangles_of_node);
    compress(neighbours, row_map, entries);
  }
  int nodes() const { return squares * nodes_of_square; }

 private:
  static void compress(std::vector<std::vector<int>> const& rows, Integers& first, Integers& all) {
    std::vector<int> begin(1, 0), numbers;
    for (auto const& row : rows) {
      numbers.insert(numbers.end(), row.begin(), row.end());
      begin.push_back(int(numbers.size()));
    }
    first = on_device("first", begin);
    all = on_device("numbers", numbers);
  }
};

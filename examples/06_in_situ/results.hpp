// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "shallow_water.hpp"

#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

// A table of errors, on rank 0's screen and in a file, and pictures of fields.
class Results {
 public:
  Results(Grid const& grid, std::string const& path) : grid_(grid) {
    if (grid.rank != 0) return;
    file_.open(path);
    file_ << "time,coarse,closure,mass\n";
    std::puts("\n   time   error of m: coarse   with closure   its change of mass");
  }

  // Returns the error of the learned run divided by that of the plain one.
  double add(double time, Field const& truth, Field const& plain, Field const& learned) {
    std::vector<double> const t = gather(truth), p = gather(plain), l = gather(learned);
    double ratio = 0;
    if (grid_.rank == 0) {
      double square = 0, errors[2] = {}, mass = 0;
      for (std::size_t i = 0; i < t.size(); ++i) {
        if (i % 3 == 0) {
          mass += (l[i] - 1) / double(t.size() / 3);
          continue;
        }
        square += t[i] * t[i];
        errors[0] += (p[i] - t[i]) * (p[i] - t[i]);
        errors[1] += (l[i] - t[i]) * (l[i] - t[i]);
      }
      ratio = errors[0] > 0 ? std::sqrt(errors[1] / errors[0]) : 0;
      double const coarse = std::sqrt(errors[0] / square), closure = std::sqrt(errors[1] / square);
      std::printf("%7.3f %20.4f %14.4f %20.1e\n", time, coarse, closure, mass);
      char line[128];
      std::snprintf(line, sizeof line, "%.17g,%.17g,%.17g,%.17g\n", time, coarse, closure, mass);
      file_ << line;
    }
    MPI_Bcast(&ratio, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return ratio;
  }

  // One line for each row of cells, with h, m_x and m_y of each cell.
  void write(std::string const& path, std::initializer_list<Field> fields) const {
    std::ofstream file;
    if (grid_.rank == 0) file.open(path);
    for (Field const& field : fields) {
      std::vector<double> const all = gather(field);
      std::size_t const row = std::size_t(3 * grid_.cells);
      for (std::size_t i = 0; i < all.size(); ++i)
        file << all[i] << ((i + 1) % row != 0 ? ',' : '\n');
    }
  }

 private:
  // All rows, on rank 0.
  std::vector<double> gather(Field const& field) const {
    auto const rows =
        Kokkos::subview(field, std::pair(halo, halo + grid_.rows()), Kokkos::ALL, Kokkos::ALL);
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, rows);
    std::vector<double> all(grid_.rank == 0 ? std::size_t(3 * grid_.cells * grid_.cells) : 0);
    int const count = int(host.size());
    MPI_Gather(host.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
  }

  Grid grid_;
  std::ofstream file_;
};

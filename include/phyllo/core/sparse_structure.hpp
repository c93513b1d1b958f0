// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Where the entries of a square sparse matrix are, on the host: compressed rows.
struct SparseStructure {
  std::vector<std::int32_t> row_map;  // (rows + 1)
  std::vector<std::int32_t> entries;  // (row_map[rows]), columns

  std::int32_t rows() const { return std::int32_t(row_map.size()) - 1; }

  /// errors   run: a row map that does not begin with zero, decreases, or does not end with the
  ///          number of entries; a column outside of 0 .. rows - 1 -> Error
  void check() const {
    if (row_map.front() != 0)
      throw Error("SparseMatrix: expected a row_map that begins with 0, got " +
                  std::to_string(row_map.front()) + ".");
    for (std::size_t r = 0; r + 1 < row_map.size(); ++r)
      if (row_map[r + 1] < row_map[r])
        throw Error("SparseMatrix: expected a row_map that never decreases, got " +
                    std::to_string(row_map[r + 1]) + " after " + std::to_string(row_map[r]) +
                    " at row " + std::to_string(r) + ".");
    if (std::size_t(row_map.back()) != entries.size())
      throw Error("SparseMatrix: expected " + std::to_string(row_map.back()) +
                  " entries, the last number of row_map, got " + std::to_string(entries.size()) +
                  ".");
    for (std::size_t r = 0; r + 1 < row_map.size(); ++r)
      for (std::int32_t k = row_map[r]; k < row_map[r + 1]; ++k)
        if (entries[std::size_t(k)] < 0 || entries[std::size_t(k)] >= rows())
          throw Error("SparseMatrix: expected columns of 0 to " + std::to_string(rows() - 1) +
                      " of a square matrix, got " + std::to_string(entries[std::size_t(k)]) +
                      " in row " + std::to_string(r) + ".");
  }

  /// The structure of the transpose. Its entry k is entry order[k] of this one; those of a row are
  /// in rising order of columns, so that sums have one order.
  SparseStructure transposed(std::vector<std::int32_t>& order) const {
    SparseStructure t;
    t.row_map.assign(row_map.size(), 0);
    t.entries.resize(entries.size());
    order.resize(entries.size());
    for (std::int32_t c : entries) ++t.row_map[std::size_t(c) + 1];
    for (std::size_t r = 1; r < t.row_map.size(); ++r) t.row_map[r] += t.row_map[r - 1];
    std::vector<std::int32_t> next(t.row_map.begin(), t.row_map.end() - 1);
    for (std::int32_t r = 0; r < rows(); ++r)
      for (std::int32_t k = row_map[std::size_t(r)]; k < row_map[std::size_t(r) + 1]; ++k) {
        auto const at = std::size_t(next[std::size_t(entries[std::size_t(k)])]++);
        t.entries[at] = r;
        order[at] = k;
      }
    return t;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

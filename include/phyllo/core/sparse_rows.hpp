// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// A square sparse matrix by compressed rows, as kernels read it: pointers only.
///
/// shape    row_map (rows + 1), row r has the entries row_map[r] to row_map[r + 1] - 1 · entries,
///          the column of each, and values (row_map[rows])
template <class Scalar> struct SparseRows {
  std::int32_t rows = 0;
  std::int32_t const* row_map = nullptr;
  std::int32_t const* entries = nullptr;
  Scalar const* values = nullptr;
  std::int32_t count = 0;  // of entries
};

}  // namespace phyllo::inline PHYLLO_ISA

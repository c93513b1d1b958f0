// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::openmp {

/// An operand of a matrix product where it stands in memory: rows one after the other, or columns.
template <class T, bool ByRows> struct MatrixOperand {
  using value = T;
  static constexpr bool by_rows = ByRows;

  T const* data = nullptr;
  long stride = 0;  // between two rows, or two columns

  PHYLLO_INLINE T const* at(long row, long column) const {
    return ByRows ? data + row * stride + column : data + column * stride + row;
  }
};

}  // namespace phyllo::openmp

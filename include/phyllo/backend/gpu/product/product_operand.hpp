// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/pack4.hpp>
#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// One operand of a product of matrices: lines, which are rows of the result or its columns, by the
/// depth that is summed over.
///
/// shape    (Lines, depth) in memory where AlongDepth, else (depth, lines); behind its end zeros
template <class S, bool AlongDepth> struct ProductOperand {
  S const* data = nullptr;
  long lines = 0;
  long depth = 0;
  bool is_aligned = false;

  ProductOperand(S const* from, long line_count, long summed)
      : data(from), lines(line_count), depth(summed) {
    is_aligned =
        columns() % 4 == 0 && reinterpret_cast<std::uintptr_t>(from) % sizeof(Pack4<S>) == 0;
  }

  /// Depths k to k + 3 of each of the lines from `line` to `line` + 3.
  PHYLLO_INLINE void read(long line, long k, Pack4<S> (&four)[4]) const {
    if constexpr (AlongDepth) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i) four[i] = row(line + i, k);
    } else {
      Pack4<S> raw[4];
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i) raw[i] = row(k + i, line);
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        four[i] = {{raw[0].value[i], raw[1].value[i], raw[2].value[i], raw[3].value[i]}};
    }
  }

 private:
  PHYLLO_INLINE long rows() const { return AlongDepth ? lines : depth; }
  PHYLLO_INLINE long columns() const { return AlongDepth ? depth : lines; }

  PHYLLO_INLINE Pack4<S> row(long r, long c) const {
    if (r >= rows()) return {};
    if (is_aligned && c < columns())
      return *reinterpret_cast<Pack4<S> const*>(data + r * columns() + c);
    Pack4<S> four = {};
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i)
      if (c + i < columns()) four.value[i] = data[r * columns() + c + i];
    return four;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/chunk_place.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// One operand of a product of matrices, as chunks of 8 numbers: as ProductOperand.
///
/// shape    (lines, depth) in memory where AlongDepth, else (depth, lines)
template <class S, bool AlongDepth> struct MatrixChunks {
  using value = S;
  static constexpr bool along_depth = AlongDepth;

  S const* data = nullptr;
  long lines = 0;
  long depth = 0;

  bool fits() const { return has_chunks(data, columns()); }

  /// The chunks of a thread, stage by stage.
  template <class Place> struct Cursor {
    S const* first;
    long row, column;

    PHYLLO_INLINE void begin(MatrixChunks const& of, long line, long k, Place const& place) {
      row = (AlongDepth ? line : k) + place.row;
      column = (AlongDepth ? k : line) + place.number();
      first = of.data + row * of.columns() + column;
    }
    /// nullptr: zeros.
    PHYLLO_INLINE S const* at(MatrixChunks const& of, int chunk) const {
      int const more = chunk * Place::between;
      return row + more < of.rows() && column < of.columns() ? first + more * of.columns()
                                                             : nullptr;
    }
    PHYLLO_INLINE void advance(MatrixChunks const& of) {
      (AlongDepth ? column : row) += stage_depth;
      first += AlongDepth ? stage_depth : stage_depth * of.columns();
    }
  };

  PHYLLO_INLINE long rows() const { return AlongDepth ? lines : depth; }
  PHYLLO_INLINE long columns() const { return AlongDepth ? depth : lines; }
};

/// The weights of a convolution for its gradients by inputs, as chunks: as TapsOperand.
///
/// shape    memory (taps, C, C'); lines C, depth (taps, C')
template <class S> struct TapsChunks {
  using value = S;
  static constexpr bool along_depth = true;

  S const* data = nullptr;
  long lines = 0;
  long depth = 0;
  int outputs = 0;

  template <class Place> struct Cursor {
    S const* first;
    long line;
    int output, left;  // in the tap; depths to the end

    PHYLLO_INLINE void begin(TapsChunks const& of, long from, long k, Place const& place) {
      line = from + place.row;
      long const depth = k + place.number();
      output = int(depth % of.outputs);
      left = int(of.depth - depth);
      first = of.data + (depth / of.outputs * of.lines + line) * of.outputs + output;
    }
    PHYLLO_INLINE S const* at(TapsChunks const& of, int chunk) const {
      int const more = chunk * Place::between;
      return line + more < of.lines && left > 0 ? first + long(more) * of.outputs : nullptr;
    }
    PHYLLO_INLINE void advance(TapsChunks const& of) {
      output += stage_depth;
      left -= stage_depth;
      first += stage_depth;
      while (output >= of.outputs) {
        output -= of.outputs;
        first += (of.lines - 1) * of.outputs;
      }
    }
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

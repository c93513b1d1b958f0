// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

#include <climits>

namespace phyllo::inline PHYLLO_ISA::host {

/// An operand of a matrix product where it stands in memory: rows one after the other, or columns.
template <class T, bool ByRows> struct MatrixOperand {
  using value = T;
  static constexpr bool by_rows = ByRows;

  T const* data = nullptr;
  long stride = 0;  // between two rows, or two columns

  /// Numbers side by side in every line: all.
  long run_length() const { return LONG_MAX; }
  /// Numbers from the beginning of a line to that of the next one.
  long line_distance() const { return stride; }

  PHYLLO_INLINE_ON_HOST T const* at(long row, long column) const {
    return ByRows ? data + row * stride + column : data + column * stride + row;
  }

  /// Numbers [first, first + count) of one line (row or column) after the other.
  class Lines {
   public:
    Lines(MatrixOperand const& from, long line, long first, int count)
        : at_(from.data + line * from.stride + first), stride_(from.stride), count_(count) {}

    /// A line's numbers, where they stand in memory.
    PHYLLO_INLINE_ON_HOST T const* next(T*) {
      T const* const line = at_;
      at_ += stride_;
      return line;
    }
    /// A line's numbers to memory.
    template <class To> PHYLLO_INLINE_ON_HOST void copy_next(To* to) {
      int i = 0;
      for (; i + lanes<To> <= count_; i += lanes<To>)
        InstructionSet::store(to + i, InstructionSet::load(at_ + i));
      for (; i < count_; ++i) to[i] = To(at_[i]);
      at_ += stride_;
    }

   private:
    T const* at_;
    long stride_;
    int count_;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::host

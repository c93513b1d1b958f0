// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/taps_operand.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Asks for the part of an operand that is packed next, a few lines at a time between the blocks
/// that are computed: its rows are too short, and too far apart, for the hardware to foresee.
template <class Operand> class OperandPrefetch {
  using T = typename Operand::value;
  static constexpr long line = 64;  // bytes

 public:
  /// Rows x columns from (row, column) on, to be asked for in `calls` calls.
  OperandPrefetch(Operand const& from, long row, long column, long rows, long columns, int calls)
      : at_(reinterpret_cast<char const*>(from.at(row, column))),
        stride_(from.stride * long(sizeof(T))),
        runs_(Operand::by_rows ? rows : columns),
        lines_(((Operand::by_rows ? columns : rows) * long(sizeof(T)) + line - 1) / line),
        a_call_((runs_ * lines_ + calls - 1) / calls) {}

  PHYLLO_INLINE_ON_HOST void operator()() {
    for (long i = 0; i < a_call_ && runs_ > 0; ++i) {
      __builtin_prefetch(at_ + at_line_ * line, 0, 2);  // the second-level cache
      if (++at_line_ == lines_) at_line_ = 0, at_ += stride_, --runs_;
    }
  }

 private:
  char const* at_;
  long stride_;
  long runs_;
  long lines_;  // of a run
  long a_call_;
  long at_line_ = 0;
};

/// The weights of a convolution's gradients are packed without it.
template <class T> class OperandPrefetch<TapsOperand<T>> {
 public:
  OperandPrefetch(TapsOperand<T> const&, long, long, long, long, int) {}
  PHYLLO_INLINE_ON_HOST void operator()() {}
};

}  // namespace phyllo::inline PHYLLO_ISA::host

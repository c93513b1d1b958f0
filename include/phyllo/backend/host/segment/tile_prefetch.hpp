// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Memory of the caller's that a tile needs next, asked for a few lines at a time between the
/// blocks of the one that is computed: all at once would fill the processor's line buffers and
/// wait.
///
/// options  Written: the lines will be stored to
/// errors   none: rows with gaps between them, or one variable after the other, are left to the
///          hardware; an address outside of the program's memory is not accessed
template <bool Written> class TilePrefetch {
 public:
  /// Rows [first, first + rows) of a tensor (N, channels), to be asked for in `calls` calls.
  TilePrefetch(ExternalTensor const& t, long first, long rows, int channels, int calls) {
    if (rows <= 0 || t.variables != 0 || t.channel_stride != 1 || t.sample_stride != channels)
      return;
    int const size = t.type == ElementType::f64   ? 8
                     : t.type == ElementType::f32 ? 4
                                                  : 2;  // integers wait for the hardware
    at_ = static_cast<char const*>(t.data[0]) + first * channels * size;
    end_ = at_ + rows * channels * size;
    lines_ = int(((end_ - at_) / line + calls) / calls);
  }

  PHYLLO_INLINE_ON_HOST void operator()() {
    for (int i = 0; i < lines_ && at_ < end_; ++i, at_ += line)
      __builtin_prefetch(at_, Written ? 1 : 0);
  }

 private:
  static constexpr int line = 64;  // bytes
  char const* at_ = nullptr;
  char const* end_ = nullptr;
  int lines_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

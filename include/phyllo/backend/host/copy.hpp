// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/copy.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// Some rows, each of neighbouring channels. Gradients of sums are such rows, one behind the other.
template <class P> struct copy_piece {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Copy::Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    long first = work.rows * piece / pieces, last = work.rows * (piece + 1) / pieces;
    if (work.x_channels == work.channels && work.y_channels == work.channels) {
      copy(work.x + first * work.channels, (last - first) * work.channels,
           work.y + first * work.channels);
      return;
    }
    for (long r = first; r < last; ++r)
      copy(work.x + r * work.x_channels + work.from, work.channels,
           work.y + r * work.y_channels + work.to);
  }

 private:
  void copy(S const* x, long count, S* y) const {
    if (!work.accumulate) {
      std::memcpy(static_cast<void*>(y), static_cast<void const*>(x),
                  std::size_t(count) * sizeof(S));
      return;
    }
    constexpr int most = 1 << 20;
    for (; count > 0; count -= most, x += most, y += most) {
      int const here = count < most ? int(count) : most;
      PHYLLO_SIMD(16)
      for (int i = 0; i < here; ++i) store_number(number<A>(y, i) + number<A>(x, i), y, i);
    }
  }
};

template <class P> struct Kernels<op::Copy, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Copy::Forward<P> const& work) {
    if (work.rows == 0) return;
    int const pieces = worthy_pieces(exec, work.rows, work.channels);
    launch(exec, label, pieces, copy_piece<P>{work, pieces});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/lookup.hpp>

#include <cstring>
#include <limits>

namespace phyllo::inline PHYLLO_ISA::host {

/// One piece: some of the rows.
template <class P> struct lookup_forward {
  using S = typename P::storage;
  op::Lookup::Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    int const channels = work.channels;
    for (long r = work.rows * piece / pieces; r < work.rows * (piece + 1) / pieces; ++r) {
      long const e = work.x[r];
      S* const y = work.y + r * channels;
      if (e >= 0 && e < work.entries)
        copy(work.weight + e * channels, channels, y);
      else
        for (int c = 0; c < channels; ++c) y[c] = S(std::numeric_limits<float>::quiet_NaN());
    }
  }

 private:
  // Without a call for each row.
  static PHYLLO_INLINE_ON_HOST void copy(S const* from, int count, S* to) {
    constexpr int run = 16;
    int c = 0;
    for (; c + run <= count; c += run) std::memcpy(to + c, from + c, sizeof(S) * run);
    for (; c < count; ++c) to[c] = from[c];
  }
};

/// One piece: every so many-th entry, so that entries that occur often, which are neighbours in
/// most tables, are not those of one piece; of few entries some channels only. It walks through all
/// indices in order, therefore the number of pieces does not change a bit.
template <class P> struct lookup_backward {
  using A = typename P::accumulate;
  op::Lookup::BackwardParameters<P> work;
  int owners;  // of entries
  int splits;  // of the channels

  void operator()(int piece) const {
    int const owner = piece % owners, split = piece / owners, channels = work.channels;
    int const first = int(long(channels) * split / splits),
              count = int(long(channels) * (split + 1) / splits) - first;
    for (long e = owner; e < work.entries; e += owners)
      for (int c = 0; c < count; ++c) work.d_weight[e * channels + first + c] = A(0);
    for (long r = 0; r < work.rows; ++r) {
      long const e = work.x[r];
      if (e < 0 || e >= work.entries || (owners > 1 && int(e) % owners != owner)) continue;
      add_numbers(work.d_y + r * channels + first, count, work.d_weight + e * channels + first);
    }
  }
};

/// Rows are copied as a whole; gradients are added by the owners of entries, without sorting.
template <class P> struct Kernels<op::Lookup, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Lookup::Forward<P> const& work) {
    if (work.rows == 0) return;
    int const pieces = worthy_pieces(exec, work.rows, work.channels);
    launch(exec, label, pieces, lookup_forward<P>{work, pieces});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Lookup::BackwardParameters<P> const& work) {
    int const pieces = worthy_pieces(exec, work.rows + work.entries, work.channels);
    int const owners = pieces < work.entries ? pieces : work.entries;
    constexpr int vector = 16;  // channels of a split, at least
    int const most = work.channels < vector ? 1 : work.channels / vector;
    int const splits = pieces / owners < most ? pieces / owners : most;
    launch(exec, label, owners * splits, lookup_backward<P>{work, owners, splits});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

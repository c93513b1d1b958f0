// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/chunk.hpp>
#include <phyllo/backend/portable/normalization.hpp>
#include <phyllo/core/divisor.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What a work item of an element-wise kernel has: a chunk of channels in some rows.
template <class S> struct ChunkRows {
  static constexpr int numbers = Chunk<S>::numbers;
  // What is read of each channel is read once for these rows.
  static constexpr int rows_of_item = 16;

  Divisor across;  // chunks of a row
  long rows = 0;
  int channels = 0;

  ChunkRows(long count, int of_row)
      : across(unsigned(of_row < numbers ? 1 : of_row / numbers)), rows(count), channels(of_row) {}

  long items() const { return (rows + rows_of_item - 1) / rows_of_item * across.by; }
  bool can_count() const { return items() < (1L << 31); }

  /// body(channel, first row, one behind the last).
  template <class Body> PHYLLO_INLINE void run(long item, Body const& body) const {
    unsigned const i = unsigned(item), r = across.quotient(i);
    long const first = long(r) * rows_of_item, last = first + rows_of_item;
    body(int(i - r * across.by) * numbers, first, last < rows ? last : rows);
  }
};

/// portable::normalization_forward, chunk by chunk.
template <class Chain, class P> struct normalize_chunks {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int numbers = Chunk<S>::numbers;
  portable::normalization_forward<Chain, P> each;
  ChunkRows<S> over;

  PHYLLO_FUNCTION void operator()(long item) const { over.run(item, *this); }
  PHYLLO_INLINE void operator()(int c, long first, long last) const {
    auto const& work = each.work;
    portable::NormalizationChannel<A> channel[numbers];
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < numbers; ++i) channel[i] = each.channel(c + i);
    for (long r = first; r < last; ++r) {
      long const at = r * work.channels + c;
      auto const x = Chunk<S>::read(work.x + at);
      auto const added = Chunk<S>::read(work.added != nullptr ? work.added + at : nullptr);
      Chunk<S> y;
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < numbers; ++i)
        y.value[i] = each.value(at + i, channel[i], A(x.value[i]), A(added.value[i]));
      y.write(work.y + at);
    }
  }
};

/// Chunks of what a gradient reads at number `at`.
template <class Chain, class S, class A> struct NormalizationChunks {
  Chunk<S> x, d_y, y, added;

  template <class Work>
  PHYLLO_INLINE NormalizationChunks(Work const& work, long at)
      : x(Chunk<S>::read(work.x + at)),
        d_y(Chunk<S>::read(work.d_y + at)),
        y(Chunk<S>::read(portable::reads_result<Chain>(work) ? work.y + at : nullptr)),
        added(Chunk<S>::read(portable::reads_added<Chain>(work) ? work.added + at : nullptr)) {}
  PHYLLO_INLINE portable::NormalizationNumbers<A> numbers(int i) const {
    return {A(x.value[i]), A(d_y.value[i]), A(y.value[i]), A(added.value[i])};
  }
};

/// portable::normalization_backward, chunk by chunk.
template <class Chain, class P> struct differentiate_chunks {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Each = portable::normalization_backward<Chain, P>;
  static constexpr int numbers = Chunk<S>::numbers;
  Each each;
  ChunkRows<S> over;

  PHYLLO_FUNCTION void operator()(long item) const { over.run(item, *this); }
  PHYLLO_INLINE void operator()(int c, long first, long last) const {
    auto const& work = each.work;
    portable::NormalizationChannel<A> channel[numbers];
    typename Each::Means means[numbers];
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < numbers; ++i) {
      channel[i] = {work, c + i};
      means[i] = each.means(c + i);
    }
    for (long r = first; r < last; ++r) {
      long const at = r * work.channels + c;
      NormalizationChunks<Chain, S, A> const of(work, at);
      A d_x[numbers], g[numbers];
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < numbers; ++i)
        d_x[i] = each.gradient(at + i, channel[i], means[i], of.numbers(i), g[i]);
      if (work.d_x != nullptr) write(work.d_x + at, work.accumulate_gradient, d_x);
      if (work.d_added != nullptr) write(work.d_added + at, work.accumulate_added, g);
    }
  }

 private:
  PHYLLO_INLINE static void write(S* to, bool accumulate, A const (&value)[numbers]) {
    auto const before = Chunk<S>::read(accumulate ? to : nullptr);
    Chunk<S> sum;
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < numbers; ++i)
      sum.value[i] = S(accumulate ? A(before.value[i]) + value[i] : value[i]);
    sum.write(to);
  }
};

/// Numbers, or their centred squares where the sums of the numbers are known.
template <class Chain, class P> struct StatisticsChunks {
  using S = typename P::storage;
  static constexpr int quantities = 1, numbers = Chunk<S>::numbers;
  typename op::Normalization<Chain>::template Sum<P> work;

  struct Channels {
    float mean[numbers];
    bool is_centered;
    template <class Work> PHYLLO_INLINE Channels(Work const& of, int c) {
      is_centered = of.mean_sums != nullptr && of.mean_sums[of.channels] != 0;
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < numbers; ++i)
        mean[i] = is_centered ? of.mean_sums[c + i] / of.mean_sums[of.channels] : 0.0f;
    }
  };
  PHYLLO_INLINE void operator()(long row, int c, Channels const& channels,
                                float (&sum)[1][numbers]) const {
    auto const x = Chunk<S>::read(work.x + row * work.channels + c);
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < numbers; ++i) {
      float const d = float(x.value[i]) - channels.mean[i];
      sum[0][i] += channels.is_centered ? d * d : d;
    }
  }
};

/// Gradients behind the normalisation, and these times the normalised numbers.
template <class Chain, class P> struct NormalizationGradientChunks {
  using S = typename P::storage;
  static constexpr int quantities = 2, numbers = Chunk<S>::numbers;
  typename op::Normalization<Chain>::template BackwardSums<P> work;

  struct Channels {
    portable::NormalizationChannel<float> of[numbers];
    template <class Work> PHYLLO_INLINE Channels(Work const& from, int c) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < numbers; ++i) of[i] = {from, c + i};
    }
  };
  PHYLLO_INLINE void operator()(long row, int c, Channels const& channels,
                                float (&sum)[2][numbers]) const {
    long const at = row * work.channels + c;
    NormalizationChunks<Chain, S, float> const chunks(work, at);
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < numbers; ++i) {
      float x_hat = 0;
      float const g = portable::normalization_gradient<Chain>(work, at + i, channels.of[i],
                                                              chunks.numbers(i), x_hat);
      sum[0][i] += g;
      sum[1][i] += g * x_hat;
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/first_maxima.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/maximum_backward.hpp>
#include <phyllo/backend/portable/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Windows, some channels at a time. One work item: a row of output positions.
template <op::PoolingKind Kind, class P> struct pooling_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pooling<Kind>::template Forward<P> work;

  void operator()(long row) const {
    int const *const extent = work.output.spatial, height = extent[1];
    long const n = row / (extent[0] * height);
    int const qd = int(row / height % extent[0]), qh = int(row % height);
    int const channels = work.input.channels;
    Range window[] = {
        places_of(work.window, work.input, 0, qd), places_of(work.window, work.input, 1, qh), {}};
    S const* const sample = work.x + n * work.input.size();
    S* y = work.y + row * extent[2] * channels;
    for (int qw = 0; qw < extent[2]; ++qw, y += channels) {
      window[2] = places_of(work.window, work.input, 2, qw);
      A scale = 1;
      if constexpr (Kind != op::PoolingKind::maximum)
        scale = A(1) / A(op::pooling_divisor<Kind>(work, {qd, qh, qw}));
      for (int c = 0; c < channels; c += pooled_channels) {
        int const left = channels - c;
        if (left >= pooled_channels)
          compute<pooled_channels>(sample + c, window, pooled_channels, scale, y + c);
        else
          compute<0>(sample + c, window, left, scale, y + c);
      }
    }
  }

 private:
  template <int Count>
  PHYLLO_INLINE_ON_HOST void compute(S const* from, Range const (&window)[3], int some,
                                     [[maybe_unused]] A scale, S* y) const {
    int const count = Count > 0 ? Count : some;
    constexpr bool maximum = Kind == op::PoolingKind::maximum;
    A result[pooled_channels] = {};
    bool fresh = maximum;
    for (int i = window[0].begin; i < window[0].end; ++i)
      for (int j = window[1].begin; j < window[1].end; ++j)
        for (int k = window[2].begin; k < window[2].end; ++k) {
          long const p = (long(i) * work.input.spatial[1] + j) * work.input.spatial[2] + k;
          S const* const x = from + p * work.input.channels;
          if (fresh) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) result[c] = number<A>(x, c);
            fresh = false;
          } else if constexpr (maximum) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) {
              A const value = number<A>(x, c);
              result[c] = exceeds(value, result[c]) ? value : result[c];
            }
          } else {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) result[c] += number<A>(x, c);
          }
        }
    if constexpr (!maximum)
      for (int c = 0; c < count; ++c) result[c] *= scale;
    store_numbers(result, count, y);
  }
};

/// The gradient of means over windows, gathered from the windows over a position. One work item: a
/// row of input positions.
template <op::PoolingKind Kind, class P> struct mean_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pooling<Kind>::template Backward<P> work;

  void operator()(long row) const {
    int const *const extent = work.input.spatial, height = extent[1];
    long const n = row / (extent[0] * height);
    int const d = int(row / height % extent[0]), h = int(row % height);
    int const channels = work.input.channels;
    Range over[] = {windows_over(work.window, work.output, 0, {d, d + 1}),
                    windows_over(work.window, work.output, 1, {h, h + 1}),
                    {}};
    S const* const d_y = work.d_y + n * work.output.size();
    S* d_x = work.d_x + row * extent[2] * channels;
    for (int w = 0; w < extent[2]; ++w, d_x += channels) {
      over[2] = windows_over(work.window, work.output, 2, {w, w + 1});
      for (int c = 0; c < channels; c += pooled_channels) {
        int const left = channels - c;
        if (left >= pooled_channels)
          compute<pooled_channels>(d_y + c, over, pooled_channels, d_x + c);
        else
          compute<0>(d_y + c, over, left, d_x + c);
      }
    }
  }

 private:
  template <int Count>
  PHYLLO_INLINE_ON_HOST void compute(S const* from, Range const (&over)[3], int some,
                                     S* d_x) const {
    int const count = Count > 0 ? Count : some;
    A sum[pooled_channels] = {};
    for (int qd = over[0].begin; qd < over[0].end; ++qd)
      for (int qh = over[1].begin; qh < over[1].end; ++qh)
        for (int qw = over[2].begin; qw < over[2].end; ++qw) {
          long const q = (long(qd) * work.output.spatial[1] + qh) * work.output.spatial[2] + qw;
          S const* const d_y = from + q * work.input.channels;
          A const scale = A(1) / A(op::pooling_divisor<Kind>(work, {qd, qh, qw}));
          PHYLLO_SIMD(16)
          for (int c = 0; c < count; ++c) sum[c] += scale * number<A>(d_y, c);
        }
    if (work.accumulate) add_numbers(d_x, count, sum);
    store_numbers(sum, count, d_x);
  }
};

template <op::PoolingKind Kind, class P> struct Kernels<op::Pooling<Kind>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pooling<Kind>::template Forward<P> const& work) {
    Shape const& output = work.output;
    portable::launch(exec, label, long(work.batch) * output.spatial[0] * output.spatial[1],
                     pooling_forward<Kind, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pooling<Kind>::template Backward<P> const& work) {
    if constexpr (Kind == op::PoolingKind::maximum) {
      maximum_backward<P> const tiles(work);
      portable::launch(exec, label, tiles.items(), tiles);
    } else {
      Shape const& input = work.input;
      portable::launch(exec, label, long(work.batch) * input.spatial[0] * input.spatial[1],
                       mean_backward<Kind, P>{work});
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

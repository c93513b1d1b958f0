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
      A divisor = 1;
      if constexpr (Kind != op::PoolingKind::maximum)
        divisor = A(op::pooling_divisor<Kind>(work, {qd, qh, qw}));
      each_channel_block(0, channels, [&]<int Count>(int c, int some) {
        compute<Count>(sample + c, window, some, divisor, y + c);
      });
    }
  }

 private:
  template <int Count>
  PHYLLO_INLINE_ON_HOST void compute(S const* from, Range const (&window)[3], int some,
                                     [[maybe_unused]] A divisor, S* y) const {
    using Channels = ChannelVectors<A>;
    if constexpr (Kind == op::PoolingKind::maximum) {
      FirstMaxima<A> maxima;
      maxima.template find<Count>(from, work.input, window, some);
      maxima.maximum.template store<Count>(y, some);
    } else {
      Channels result = Channels::zero();
      for (int i = window[0].begin; i < window[0].end; ++i)
        for (int j = window[1].begin; j < window[1].end; ++j)
          for (int k = window[2].begin; k < window[2].end; ++k) {
            long const at = position_of(work.input, i, j, k) * work.input.channels;
            result.add(Channels::template load<Count>(from + at, some));
          }
      result.divide(divisor);
      result.template store<Count>(y, some);
    }
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
    A const share = A(1) / A(work.window.taps());
    WindowsAlong along(work.window, work.output, 2);
    for (int w = 0; w < extent[2]; ++w, along.next(), d_x += channels) {
      over[2] = along.here();
      each_channel_block(0, channels, [&]<int Count>(int c, int some) {
        compute<Count>(d_y + c, over, share, some, d_x + c);
      });
    }
  }

 private:
  template <int Count>
  PHYLLO_INLINE_ON_HOST void compute(S const* from, Range const (&over)[3], A share, int some,
                                     S* d_x) const {
    using Channels = ChannelVectors<A>;
    Channels sum = Channels::zero();
    for (int qd = over[0].begin; qd < over[0].end; ++qd)
      for (int qh = over[1].begin; qh < over[1].end; ++qh)
        for (int qw = over[2].begin; qw < over[2].end; ++qw) {
          long const q = position_of(work.output, qd, qh, qw);
          if constexpr (Kind == op::PoolingKind::average_counted)
            share = A(1) / A(op::pooling_divisor<Kind>(work, {qd, qh, qw}));
          sum.add(share, Channels::template load<Count>(from + q * work.input.channels, some));
        }
    if (work.accumulate) sum.add(Channels::template load<Count>(d_x, some));
    sum.template store<Count>(d_x, some);
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

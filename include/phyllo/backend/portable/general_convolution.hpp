// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/general_convolution.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Stores one sum of a convolution: element `element` of sample n, of `channels` a position.
template <class Chain, class P>
PHYLLO_FUNCTION void finish_convolution(op::ConvolutionResult<P> const& result, int n, long size,
                                        int element, int channel, typename P::accumulate z) {
  using A = typename P::accumulate;
  using S = typename P::storage;
  long const at = long(n) * size + element;
  if (result.accumulate) {
    result.y[at] = S(A(result.y[at]) + z);
    return;
  }
  if (result.fold.mean != nullptr)
    z = (z - A(result.fold.mean[channel])) /
            Kokkos::sqrt(A(result.fold.variance[channel]) + result.fold.epsilon) *
            op::scale_at<A>(result.fold.scale, channel) +
        op::shift_at<A>(result.fold.shift, channel);
  if (result.saved != nullptr) result.saved[at] = S(z);
  result.y[at] = S(Chain::value(z, result.random.element(n, element)));
}

/// One work item: one window of one sample, `block` outputs of a group.
template <class Chain, class P> struct convolution_gather {
  using A = typename P::accumulate;
  using S = typename P::storage;

  typename op::GeneralConvolution<Chain>::template Gather<P> work;
  int blocks = 0;  // of the outputs of a group

  struct Add {
    S const* x;       // of the sample, from the first channel of the group on
    S const* weight;  // from the first output on
    A* sum;
    int channels, pitch, outputs, count;

    PHYLLO_FUNCTION void operator()(int t, int p) const {
      S const* const row = x + long(p) * pitch;
      S const* w = weight + long(t) * channels * outputs;
      for (int c = 0; c < channels; ++c, w += outputs) {
        A const value = A(row[c]);
        for (int o = 0; o < count; ++o) sum[o] += value * A(w[o]);
      }
    }
  };

  PHYLLO_FUNCTION void operator()(long item) const {
    ConvolutionShape const& s = work.shape;
    int const b = int(item % (s.groups * blocks));
    long const row = item / (s.groups * blocks);  // (n, q)
    int const q = int(row % s.grid.positions()), n = int(row / s.grid.positions());
    int const group = b / blocks, outputs = s.grid_channels();
    int const inside = b % blocks * block, first = group * outputs + inside;
    int const count = outputs - inside < block ? outputs - inside : block;
    A sum[block];
    for (int o = 0; o < count; ++o)
      sum[o] = work.result.bias != nullptr ? A(work.result.bias[first + o]) : A(0);
    Add add{work.x + long(n) * s.image.size() + group * s.image_channels(),
            work.weight + first,
            sum,
            s.image_channels(),
            s.image.channels,
            s.grid.channels,
            count};
    s.for_each_tap(q, add);
    for (int o = 0; o < count; ++o)
      finish_convolution<Chain, P>(work.result, n, s.grid.size(), q * s.grid.channels + first + o,
                                   first + o, sum[o]);
  }
};

/// One work item: one position of the image of one sample, one channel.
template <class Chain, class P> struct convolution_spread {
  using A = typename P::accumulate;
  using S = typename P::storage;

  typename op::GeneralConvolution<Chain>::template Spread<P> work;

  struct Add {
    S const* x;       // of the sample, from the first channel of the group on
    S const* weight;  // of the first tap
    A* sum;
    int pitch, count;
    long step;  // from tap to tap

    PHYLLO_FUNCTION void operator()(int q, int t) const {
      S const* const row = x + long(q) * pitch;
      S const* const w = weight + t * step;
      A here = 0;
      for (int o = 0; o < count; ++o) here += A(row[o]) * A(w[o]);
      *sum += here;
    }
  };

  PHYLLO_FUNCTION void operator()(long item) const {
    ConvolutionShape const& s = work.shape;
    int const channels = s.image_channels(), outputs = s.grid_channels();
    int const c = int(item % s.image.channels);
    long const row = item / s.image.channels;  // (n, p)
    int const p = int(row % s.image.positions()), n = int(row / s.image.positions());
    int const first = c / channels * outputs;
    A sum = work.result.bias != nullptr ? A(work.result.bias[c]) : A(0);
    Add add{work.x + long(n) * s.grid.size() + first,
            work.weight + long(c % channels) * s.grid.channels + first,
            &sum,
            s.grid.channels,
            outputs,
            long(channels) * s.grid.channels};
    s.for_each_window(p, add);
    finish_convolution<Chain, P>(work.result, n, s.image.size(), p * s.image.channels + c, c, sum);
  }
};

/// One work item: one weight's tap and channel, `block` outputs of the group, summed over samples
/// and windows in rising order.
template <class Chain, class P> struct convolution_weights {
  using A = typename P::accumulate;
  using S = typename P::storage;

  typename op::GeneralConvolution<Chain>::template BackwardParameters<P> work;
  int blocks = 0;  // of the outputs of a group

  PHYLLO_FUNCTION void operator()(long item) const {
    ConvolutionShape const& s = work.shape;
    int const channels = s.image_channels(), outputs = s.grid_channels();
    int const b = int(item % (s.groups * blocks));
    int const c = int(item / (s.groups * blocks) % channels);
    int const t = int(item / (s.groups * blocks) / channels);
    int const group = b / blocks, inside = b % blocks * block;
    int const first = group * outputs + inside;
    int const count = outputs - inside < block ? outputs - inside : block;
    int const tap[3] = {t / s.size[2] / s.size[1], t / s.size[2] % s.size[1], t % s.size[2]};
    A sum[block] = {};
    for (int n = 0; n < work.batch; ++n)
      for (int qd = 0; qd < s.grid.spatial[0]; ++qd) {
        int const d = s.read(0, s.place(0, qd, tap[0]));
        for (int qh = 0; d >= 0 && qh < s.grid.spatial[1]; ++qh) {
          int const h = s.read(1, s.place(1, qh, tap[1]));
          for (int qw = 0; h >= 0 && qw < s.grid.spatial[2]; ++qw) {
            int const w = s.read(2, s.place(2, qw, tap[2]));
            if (w < 0) continue;
            int const p = (d * s.image.spatial[1] + h) * s.image.spatial[2] + w;
            int const q = (qd * s.grid.spatial[1] + qh) * s.grid.spatial[2] + qw;
            A const x = A(work.image[(long(n) * s.image.positions() + p) * s.image.channels +
                                     group * channels + c]);
            S const* const z =
                work.grid + (long(n) * s.grid.positions() + q) * s.grid.channels + first;
            for (int o = 0; o < count; ++o) sum[o] += x * A(z[o]);
          }
        }
      }
    A* const d_weight = work.d_weight + (long(t) * channels + c) * s.grid.channels + first;
    for (int o = 0; o < count; ++o) d_weight[o] = sum[o];
  }
};

/// One work item: one block of rows, `block` channels of their sum.
template <class P> struct convolution_bias_partial {
  using A = typename P::accumulate;
  typename P::storage const* x = nullptr;
  A* partial = nullptr;  // (row_blocks, channels)
  long rows = 0;
  int channels = 0;
  int blocks = 0;  // of channels
  int row_blocks = 1;

  PHYLLO_FUNCTION void operator()(long item) const {
    int const first = int(item % blocks) * block;
    long const b = item / blocks;
    int const count = channels - first < block ? channels - first : block;
    A sum[block] = {};
    for (long r = rows * b / row_blocks; r < rows * (b + 1) / row_blocks; ++r)
      for (int c = 0; c < count; ++c) sum[c] += A(x[r * channels + first + c]);
    for (int c = 0; c < count; ++c) partial[b * channels + first + c] = sum[c];
  }
};

/// One work item: one number, its partial sums in rising order.
template <class A> struct add_row_blocks {
  A const* partial = nullptr;  // (row_blocks, count)
  A* sums = nullptr;           // (count)
  long count = 0;
  int row_blocks = 1;

  PHYLLO_FUNCTION void operator()(long i) const {
    A sum = 0;
    for (int b = 0; b < row_blocks; ++b) sum += partial[b * count + i];
    sums[i] = sum;
  }
};

template <class Chain, class P> struct Kernels<op::GeneralConvolution<Chain>, P> {
  using Op = op::GeneralConvolution<Chain>;
  using A = typename P::accumulate;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Gather<P> const& work) {
    long const blocks = blocks_of(work.shape.grid_channels(), block);
    launch(exec, label, long(work.batch) * work.shape.grid.positions() * work.shape.groups * blocks,
           convolution_gather<Chain, P>{work, int(blocks)});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Spread<P> const& work) {
    launch(exec, label, long(work.batch) * work.shape.image.size(),
           convolution_spread<Chain, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    ConvolutionShape const& s = work.shape;
    long const blocks = blocks_of(s.grid_channels(), block);
    launch(exec, label, long(s.taps()) * s.image_channels() * s.groups * blocks,
           convolution_weights<Chain, P>{work, int(blocks)});
    add_bias(exec, label, work);
  }
  /// The gradient of the bias alone.
  template <class Space>
  static void add_bias(Space const& exec, std::string const& label,
                       typename Op::template BackwardParameters<P> const& work) {
    if (work.d_bias == nullptr) return;
    Shape const& of = work.gradient_shape();
    long const blocks = blocks_of(of.channels, block);
    launch(exec, label, Op::row_blocks * blocks,
           convolution_bias_partial<P>{work.gradient(), work.partial,
                                       long(work.batch) * of.positions(), of.channels, int(blocks),
                                       Op::row_blocks});
    launch(exec, label, of.channels,
           add_row_blocks<A>{work.partial, work.d_bias, of.channels, Op::row_blocks});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

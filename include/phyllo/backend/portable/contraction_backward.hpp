// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/contraction.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Input channels that one work item keeps in registers beside `block` outputs.
inline constexpr int channel_block = 4;

/// One work item: one input position of one sample, `channel_block` channels; the sum over outputs
/// runs in `block` lanes that are added in a fixed order at the end.
template <class Chain, class P> struct contraction_backward_input {
  using A = typename P::accumulate;
  using S = typename P::storage;

  typename op::Contraction<Chain>::template BackwardInput<P> work;
  int blocks = 0;  // of channels
  StrideDivisors stride{work.window};

  PHYLLO_FUNCTION void operator()(long item) const {
    int const first = int(item % blocks) * channel_block;
    long const row = item / blocks;  // (n, p)
    int const p = int(row % work.input.positions());
    int const n = int(row / work.input.positions());
    int const channels = work.input.channels, outputs = work.output.channels;
    int const count = channels - first < channel_block ? channels - first : channel_block;
    A lane[channel_block][block] = {};
    Window const& w = work.window;
    Place const place(work.input, p);
    Box const over = outputs_over(w, stride, work.output, place.at);
    S const* const sample = work.d_z + long(n) * work.output.size();  // (S', C')
    for (int qd = over.first[0]; qd < over.last[0]; ++qd)
      for (int qh = over.first[1]; qh < over.last[1]; ++qh)
        for (int qw = over.first[2]; qw < over.last[2]; ++qw) {
          int const td = place.at[0] + w.padding[0] - qd * w.stride[0];
          int const th = place.at[1] + w.padding[1] - qh * w.stride[1];
          int const tw = place.at[2] + w.padding[2] - qw * w.stride[2];
          S const* const d_z =
              sample +
              long((qd * work.output.spatial[1] + qh) * work.output.spatial[2] + qw) * outputs;
          long const t = (td * w.size[1] + th) * w.size[2] + tw;
          S const* const weight = work.weight + (t * channels + first) * outputs;  // (C, C')
          if (count == channel_block)
            add<true>(lane, d_z, weight, outputs, channel_block);
          else
            add<false>(lane, d_z, weight, outputs, count);
        }
    for (int c = 0; c < count; ++c) {
      A sum = 0;
      for (int l = 0; l < block; ++l) sum += lane[c][l];
      S& d_x = work.d_x[(long(n) * work.input.positions() + p) * channels + first + c];
      d_x = S(work.accumulate ? A(d_x) + sum : sum);
    }
  }

  template <bool Full>
  PHYLLO_FUNCTION void add(A (&lane)[channel_block][block], S const* d_z, S const* weight,
                           int outputs, int some) const {
    int const count = Full ? channel_block : some;
    int o = 0;
    for (; o + block <= outputs; o += block)
      for (int c = 0; c < count; ++c)
        for (int l = 0; l < block; ++l)
          lane[c][l] += A(d_z[o + l]) * A(weight[long(c) * outputs + o + l]);
    for (int c = 0; c < count; ++c)
      for (int l = 0; o + l < outputs; ++l)
        lane[c][l] += A(d_z[o + l]) * A(weight[long(c) * outputs + o + l]);
  }
};

/// One work item: one tap, `channel_block` input channels times `block` outputs in registers,
/// summed over samples and positions in rising order.
template <class Chain, class P> struct contraction_backward_weight {
  using A = typename P::accumulate;
  using S = typename P::storage;

  typename op::Contraction<Chain>::template BackwardParameters<P> work;
  int output_blocks = 0;
  int channel_blocks = 0;

  PHYLLO_FUNCTION void operator()(long item) const {
    int const o = int(item % output_blocks) * block;
    int const c = int(item / output_blocks % channel_blocks) * channel_block;
    int const t = int(item / output_blocks / channel_blocks);
    int const channels = work.input.channels - c, outputs = work.output.channels - o;
    if (channels >= channel_block && outputs >= block)
      compute<true>(t, c, o, channel_block, block);
    else
      compute<false>(t, c, o, channels < channel_block ? channels : channel_block,
                     outputs < block ? outputs : block);
  }

  template <bool Full>
  PHYLLO_FUNCTION void compute(int t, int c, int o, int some_channels, int some_outputs) const {
    int const channels = Full ? channel_block : some_channels;
    int const outputs = Full ? block : some_outputs;
    A sum[channel_block][block] = {};
    Window const& w = work.window;
    int const tap[3] = {t / w.size[2] / w.size[1], t / w.size[2] % w.size[1], t % w.size[2]};
    Box const box = outputs_with_tap(w, work.input, work.output, tap);
    for (int n = 0; n < work.batch; ++n)
      for (int qd = box.first[0]; qd < box.last[0]; ++qd)
        for (int qh = box.first[1]; qh < box.last[1]; ++qh) {
          int const d = qd * w.stride[0] - w.padding[0] + tap[0];
          int const h = qh * w.stride[1] - w.padding[1] + tap[1];
          long const x_row = (long(n) * work.input.spatial[0] + d) * work.input.spatial[1] + h;
          long const z_row = (long(n) * work.output.spatial[0] + qd) * work.output.spatial[1] + qh;
          for (int qw = box.first[2]; qw < box.last[2]; ++qw) {
            int const p = qw * w.stride[2] - w.padding[2] + tap[2];
            S const* const x =
                work.x + (x_row * work.input.spatial[2] + p) * work.input.channels + c;
            S const* const d_z =
                work.d_z + (z_row * work.output.spatial[2] + qw) * work.output.channels + o;
            for (int i = 0; i < channels; ++i) {
              A const value = A(x[i]);
              for (int j = 0; j < outputs; ++j) sum[i][j] += value * A(d_z[j]);
            }
          }
        }
    for (int i = 0; i < channels; ++i)
      for (int j = 0; j < outputs; ++j)
        work.d_weight[(long(t) * work.input.channels + c + i) * work.output.channels + o + j] =
            sum[i][j];
  }
};

/// One work item: `block` outputs, summed over all rows.
template <class Chain, class P> struct contraction_backward_bias {
  using A = typename P::accumulate;

  typename op::Contraction<Chain>::template BackwardParameters<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    int const first = int(item) * block;
    int const outputs = work.output.channels;
    int const count = outputs - first < block ? outputs - first : block;
    A sum[block] = {};
    long const rows = long(work.batch) * work.output.positions();
    for (long r = 0; r < rows; ++r)
      for (int o = 0; o < count; ++o) sum[o] += A(work.d_z[r * outputs + first + o]);
    for (int o = 0; o < count; ++o) work.d_bias[first + o] = sum[o];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

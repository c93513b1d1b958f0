// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/contraction.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one output position of one sample, `block` outputs in registers. The innermost
/// loop runs over outputs, along which weights are contiguous, so that it vectorises without
/// changing the order of a sum.
template <class Chain, class P> struct contraction_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;

  typename op::Contraction<Chain>::template Forward<P> work;
  int blocks = 0;  // of outputs

  PHYLLO_FUNCTION void operator()(long item) const {
    int const b = int(item % blocks);
    long const row = item / blocks;  // (n, q)
    int const q = int(row % work.output.positions());
    int const n = int(row / work.output.positions());
    int const count = work.output.channels - b * block;
    if (count >= block)
      compute<true>(n, q, b * block, block);
    else
      compute<false>(n, q, b * block, count);
  }

  template <bool Full> PHYLLO_FUNCTION void compute(int n, int q, int first, int some) const {
    int const count = Full ? block : some;
    int const channels = work.input.channels, outputs = work.output.channels;
    A sum[block];
    for (int o = 0; o < count; ++o) sum[o] = work.bias != nullptr ? A(work.bias[first + o]) : A(0);
    Place const place(work.output, q);
    Box const taps = taps_inside(work.window, work.input, place.at);
    Window const& w = work.window;
    S const* const sample = work.x + long(n) * work.input.size();  // (S, C)
    for (int td = taps.first[0]; td < taps.last[0]; ++td)
      for (int th = taps.first[1]; th < taps.last[1]; ++th)
        for (int tw = taps.first[2]; tw < taps.last[2]; ++tw) {
          int const d = place.at[0] * w.stride[0] - w.padding[0] + td;
          int const h = place.at[1] * w.stride[1] - w.padding[1] + th;
          int const x = place.at[2] * w.stride[2] - w.padding[2] + tw;
          S const* const row =
              sample + long((d * work.input.spatial[1] + h) * work.input.spatial[2] + x) * channels;
          int const t = (td * w.size[1] + th) * w.size[2] + tw;
          S const* weight = work.weight + long(t) * channels * outputs + first;  // (C, C')
          for (int c = 0; c < channels; ++c, weight += outputs) {
            A const value = A(row[c]);
            for (int o = 0; o < count; ++o) sum[o] += value * A(weight[o]);
          }
        }
    finish(n, q, first, count, sum);
  }

  // The epilogue: folded normalisation, what the backward pass needs, pointwise chain.
  PHYLLO_FUNCTION void finish(int n, int q, int first, int count, A const* sum) const {
    for (int o = 0; o < count; ++o) {
      A z = sum[o];
      if (work.fold.mean != nullptr)
        z = (z - A(work.fold.mean[first + o])) /
                Kokkos::sqrt(A(work.fold.variance[first + o]) + work.fold.epsilon) *
                op::scale_at<A>(work.fold.scale, first + o) +
            op::shift_at<A>(work.fold.shift, first + o);
      int const element = q * work.output.channels + first + o;
      long const at = long(n) * work.output.size() + element;
      if (work.saved != nullptr) work.saved[at] = S(z);
      work.y[at] = S(Chain::value(z, work.random.element(n, element)));
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/resample.hpp>

#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Resample, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Resample::Forward<P> const& work) {
    wait(exec);
    int const channels = work.channels, from = work.axes.source_positions();
    for (int n = 0; n < work.batch; ++n) {
      std::vector<A> sum(std::size_t(work.axes.positions()) * std::size_t(channels));
      each_tap(work.axes, [&](int q, int p, A weight) {
        for (int c = 0; c < channels; ++c)
          sum[std::size_t(q * channels + c)] +=
              weight * A(work.x[(long(n) * from + p) * channels + c]);
      });
      for (std::size_t i = 0; i < sum.size(); ++i)
        work.y[std::size_t(n) * sum.size() + i] = S(sum[i]);
    }
  }

  // The same pairs of results and taps, the other way round.
  template <class Space>
  static void run(Space const& exec, std::string const&, op::Resample::Backward<P> const& work) {
    wait(exec);
    int const channels = work.channels, to = work.axes.positions();
    for (int n = 0; n < work.batch; ++n) {
      std::vector<A> sum(std::size_t(work.axes.source_positions()) * std::size_t(channels));
      each_tap(work.axes, [&](int q, int p, A weight) {
        for (int c = 0; c < channels; ++c)
          sum[std::size_t(p * channels + c)] +=
              weight * A(work.d_y[(long(n) * to + q) * channels + c]);
      });
      for (std::size_t i = 0; i < sum.size(); ++i) {
        S& d_x = work.d_x[std::size_t(n) * sum.size() + i];
        d_x = S(work.accumulate ? A(d_x) + sum[i] : sum[i]);
      }
    }
  }

 private:
  // visit(result, tap, weight), results in rising order.
  template <class Visit> static void each_tap(ResampleAxes const& axes, Visit const& visit) {
    ResampleAxis const &D = axes.axis[0], &H = axes.axis[1], &W = axes.axis[2];
    for (int q = 0; q < axes.positions(); ++q) {
      ResamplePoint<A> const d = D.template point<A>(q / W.extent / H.extent);
      ResamplePoint<A> const h = H.template point<A>(q / W.extent % H.extent);
      ResamplePoint<A> const w = W.template point<A>(q % W.extent);
      for (int i = 0; i < D.taps; ++i)
        for (int j = 0; j < H.taps; ++j)
          for (int k = 0; k < W.taps; ++k) {
            int const row = D.clamped(d.first + i) * H.source_extent + H.clamped(h.first + j);
            visit(q, row * W.source_extent + W.clamped(w.first + k),
                  D.weight(i, d.fraction) * H.weight(j, h.fraction) * W.weight(k, w.fraction));
          }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

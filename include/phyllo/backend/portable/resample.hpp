// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/resample.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one element of the result.
template <class P> struct resample_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Resample::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    ResampleAxis const &D = work.axes.axis[0], &H = work.axes.axis[1], &W = work.axes.axis[2];
    int const channels = work.channels, positions = work.axes.positions();
    long const row = at / channels, n = row / positions;
    int const q = int(row % positions), rest = q / W.extent;
    ResamplePoint<A> const d = D.template point<A>(rest / H.extent);
    ResamplePoint<A> const h = H.template point<A>(rest % H.extent);
    ResamplePoint<A> const w = W.template point<A>(q % W.extent);
    S const* const x = work.x + n * work.axes.source_positions() * channels + at % channels;
    A sum = 0;
    for (int i = 0; i < D.taps; ++i)
      for (int j = 0; j < H.taps; ++j) {
        long const line = long(D.clamped(d.first + i) * H.source_extent + H.clamped(h.first + j)) *
                          W.source_extent;
        A of_line = 0;
        for (int k = 0; k < W.taps; ++k)
          of_line += W.weight(k, w.fraction) * A(x[(line + W.clamped(w.first + k)) * channels]);
        sum += D.weight(i, d.fraction) * H.weight(j, h.fraction) * of_line;
      }
    work.y[at] = S(sum);
  }
};

/// One work item: one element of the input, which gathers from the results that it is part of.
template <class P> struct resample_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Resample::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    ResampleAxis const &D = work.axes.axis[0], &H = work.axes.axis[1], &W = work.axes.axis[2];
    int const channels = work.channels, positions = work.axes.source_positions();
    long const row = at / channels, n = row / positions;
    int const p = int(row % positions), rest = p / W.source_extent;
    int const pd = rest / H.source_extent, ph = rest % H.source_extent, pw = p % W.source_extent;
    S const* const d_y = work.d_y + n * work.axes.positions() * channels + at % channels;
    A sum = 0;
    for (int d = D.first_reader(pd); d < D.last_reader(pd); ++d)
      for (int h = H.first_reader(ph); h < H.last_reader(ph); ++h) {
        long const line = (long(d) * H.extent + h) * W.extent;
        A of_line = 0;
        for (int w = W.first_reader(pw); w < W.last_reader(pw); ++w)
          of_line += W.template weight_of<A>(pw, w) * A(d_y[(line + w) * channels]);
        sum += D.template weight_of<A>(pd, d) * H.template weight_of<A>(ph, h) * of_line;
      }
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + sum : sum);
  }
};

template <class P> struct Kernels<op::Resample, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Resample::Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.axes.positions() * work.channels,
           resample_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Resample::Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.axes.source_positions() * work.channels,
           resample_backward<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

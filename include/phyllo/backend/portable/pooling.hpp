// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/element_places.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one output element.
template <op::PoolingKind Kind, class P> struct pooling_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pooling<Kind>::template Forward<P> work;
  ElementPlaces places{work.output};

  PHYLLO_FUNCTION void operator()(long at) const {
    auto const q = places(at);
    int const channels = work.input.channels, c = q.channel;
    S const* const sample = work.x + q.sample * work.input.size();
    if constexpr (Kind == op::PoolingKind::maximum) {
      work.y[at] =
          sample[long(op::first_maximum<A>(work.window, work.input, q.at, sample, c)) * channels +
                 c];
    } else {
      Window const& w = work.window;
      Box const taps = taps_inside(w, work.input, q.at);
      A sum = 0;
      for (int td = taps.first[0]; td < taps.last[0]; ++td)
        for (int th = taps.first[1]; th < taps.last[1]; ++th)
          for (int tw = taps.first[2]; tw < taps.last[2]; ++tw) {
            int const d = q.at[0] * w.stride[0] - w.padding[0] + td;
            int const h = q.at[1] * w.stride[1] - w.padding[1] + th;
            int const x = q.at[2] * w.stride[2] - w.padding[2] + tw;
            long const p = (d * work.input.spatial[1] + h) * work.input.spatial[2] + x;
            sum += A(sample[p * channels + c]);
          }
      work.y[at] = S(sum / A(op::pooling_divisor<Kind>(work, q.at)));
    }
  }
};

/// One work item: one input element, which gathers from the windows that cover it.
template <op::PoolingKind Kind, class P> struct pooling_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pooling<Kind>::template Backward<P> work;
  ElementPlaces places{work.input};
  StrideDivisors stride{work.window};

  PHYLLO_FUNCTION void operator()(long at) const {
    auto const e = places(at);
    int const channels = work.input.channels, c = e.channel, p = e.position;
    long const n = e.sample;
    Box const over = outputs_over(work.window, stride, work.output, e.at);
    S const* const sample = work.x + n * work.input.size();
    A sum = 0;
    for (int qd = over.first[0]; qd < over.last[0]; ++qd)
      for (int qh = over.first[1]; qh < over.last[1]; ++qh)
        for (int qw = over.first[2]; qw < over.last[2]; ++qw) {
          int const q = (qd * work.output.spatial[1] + qh) * work.output.spatial[2] + qw;
          A const d = A(work.d_y[(n * work.output.positions() + q) * channels + c]);
          if constexpr (Kind == op::PoolingKind::maximum) {
            if (op::first_maximum<A>(work.window, work.input, {qd, qh, qw}, sample, c) == p)
              sum += d;
          } else {
            sum += d / A(op::pooling_divisor<Kind>(work, {qd, qh, qw}));
          }
        }
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + sum : sum);
  }
};

template <op::PoolingKind Kind, class P> struct Kernels<op::Pooling<Kind>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pooling<Kind>::template Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.output.size(), pooling_forward<Kind, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pooling<Kind>::template Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.input.size(), pooling_backward<Kind, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

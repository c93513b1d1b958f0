// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/contraction.hpp>

#include <cmath>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

/// Visits every (output position q, tap t, input position p) of a window; taps outside are left
/// out.
template <class Visitor>
void for_each_tap(Shape const& input, Shape const& output, Window const& w, Visitor const& visit) {
  int q = 0;
  for (int qd = 0; qd < output.spatial[0]; ++qd)
    for (int qh = 0; qh < output.spatial[1]; ++qh)
      for (int qw = 0; qw < output.spatial[2]; ++qw, ++q) {
        int t = 0;
        for (int td = 0; td < w.size[0]; ++td)
          for (int th = 0; th < w.size[1]; ++th)
            for (int tw = 0; tw < w.size[2]; ++tw, ++t) {
              int const d = qd * w.stride[0] - w.padding[0] + td;
              int const h = qh * w.stride[1] - w.padding[1] + th;
              int const x = qw * w.stride[2] - w.padding[2] + tw;
              if (d < 0 || d >= input.spatial[0] || h < 0 || h >= input.spatial[1] || x < 0 ||
                  x >= input.spatial[2])
                continue;
              visit(q, t, (d * input.spatial[1] + h) * input.spatial[2] + x);
            }
      }
}

template <class Chain, class P> struct Kernels<op::Contraction<Chain>, P> {
  using Op = op::Contraction<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    int const channels = work.input.channels, outputs = work.output.channels;
    for (int n = 0; n < work.batch; ++n) {
      S const* const x = work.x + long(n) * work.input.size();  // (S, C)
      std::vector<A> sum(std::size_t(work.output.size()));      // (S', C')
      for (int i = 0; i < work.output.size(); ++i)
        sum[std::size_t(i)] = work.bias != nullptr ? A(work.bias[i % outputs]) : A(0);
      for_each_tap(work.input, work.output, work.window, [&](int q, int t, int p) {
        for (int c = 0; c < channels; ++c)
          for (int o = 0; o < outputs; ++o)
            sum[std::size_t(q * outputs + o)] +=
                A(x[p * channels + c]) * A(work.weight[(t * channels + c) * outputs + o]);
      });
      for (int i = 0; i < work.output.size(); ++i) {
        A z = sum[std::size_t(i)];
        int const o = i % outputs;
        if (work.fold.mean != nullptr)
          z = (z - A(work.fold.mean[o])) / std::sqrt(A(work.fold.variance[o]) + work.fold.epsilon) *
                  op::scale_at<A>(work.fold.scale, o) +
              op::shift_at<A>(work.fold.shift, o);
        long const at = long(n) * work.output.size() + i;
        if (work.saved != nullptr) work.saved[at] = S(z);
        work.y[at] = S(Chain::value(z, work.random.element(n, i)));
      }
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template BackwardInput<P> const& work) {
    wait(exec);
    int const channels = work.input.channels, outputs = work.output.channels;
    for (int n = 0; n < work.batch; ++n) {
      S const* const d_z = work.d_z + long(n) * work.output.size();  // (S', C')
      S* const d_x = work.d_x + long(n) * work.input.size();         // (S, C)
      std::vector<A> sum(std::size_t(work.input.size()), A(0));      // (S, C)
      for_each_tap(work.input, work.output, work.window, [&](int q, int t, int p) {
        for (int c = 0; c < channels; ++c)
          for (int o = 0; o < outputs; ++o)
            sum[std::size_t(p * channels + c)] +=
                A(d_z[q * outputs + o]) * A(work.weight[(t * channels + c) * outputs + o]);
      });
      for (int i = 0; i < work.input.size(); ++i)
        d_x[i] = S(work.accumulate ? A(d_x[i]) + sum[std::size_t(i)] : sum[std::size_t(i)]);
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template BackwardParameters<P> const& work) {
    wait(exec);
    int const channels = work.input.channels, outputs = work.output.channels;
    for (int i = 0; i < work.window.taps() * channels * outputs; ++i) work.d_weight[i] = 0;
    for (int o = 0; o < outputs && work.d_bias != nullptr; ++o) work.d_bias[o] = 0;
    for (int n = 0; n < work.batch; ++n) {
      S const* const x = work.x + long(n) * work.input.size();       // (S, C)
      S const* const d_z = work.d_z + long(n) * work.output.size();  // (S', C')
      for_each_tap(work.input, work.output, work.window, [&](int q, int t, int p) {
        for (int c = 0; c < channels; ++c)
          for (int o = 0; o < outputs; ++o)
            work.d_weight[(t * channels + c) * outputs + o] +=
                A(x[p * channels + c]) * A(d_z[q * outputs + o]);
      });
      for (int q = 0; q < work.output.positions() && work.d_bias != nullptr; ++q)
        for (int o = 0; o < outputs; ++o) work.d_bias[o] += A(d_z[q * outputs + o]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/group_normalization.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class Chain, class P> struct Kernels<op::GroupNormalization<Chain>, P> {
  using Op = op::GroupNormalization<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int group = 0; group < work.groups; ++group) {
        A mean = 0, square = 0;
        A const count = A(numbers(work));
        each(work, n, group, [&](long at, int) { mean += A(work.x[at]); });
        mean /= count;
        each(work, n, group,
             [&](long at, int) { square += (A(work.x[at]) - mean) * (A(work.x[at]) - mean); });
        A const inverse = A(1) / std::sqrt(square / count + work.epsilon);
        each(work, n, group, [&](long at, int c) {
          A const x_hat = (A(work.x[at]) - mean) * inverse;
          work.y[at] = S(Chain::value(z(work, x_hat, c), element(work, n, at)));
        });
        if (work.statistics == nullptr) continue;
        A* const kept = work.statistics + 2 * (long(n) * work.groups + group);
        kept[0] = mean;
        kept[1] = inverse;
      }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    for (int c = 0; c < work.channels; ++c) {
      if (work.d_scale != nullptr) work.d_scale[c] = 0;
      if (work.d_shift != nullptr) work.d_shift[c] = 0;
    }
    std::vector<A> h(numbers(work)), x_hat(numbers(work));
    for (int n = 0; n < work.batch; ++n)
      for (int group = 0; group < work.groups; ++group) {
        A const* const kept = work.statistics + 2 * (long(n) * work.groups + group);
        A mean_h = 0, mean_hx = 0;
        std::size_t i = 0;
        each(work, n, group, [&](long at, int c) {
          x_hat[i] = (A(work.x[at]) - kept[0]) * kept[1];
          A const in = z(work, x_hat[i], c);
          Element const e = element(work, n, at);
          A const value = Chain::derivative_of == Derivative::output ? Chain::value(in, e) : in;
          A const g = A(work.d_y[at]) * Chain::derivative(value, e);
          if (work.d_scale != nullptr) work.d_scale[c] += g * x_hat[i];
          if (work.d_shift != nullptr) work.d_shift[c] += g;
          h[i] = work.scale != nullptr ? g * A(work.scale[c]) : g;
          mean_h += h[i] / A(numbers(work));
          mean_hx += h[i] * x_hat[i] / A(numbers(work));
          ++i;
        });
        if (work.d_x == nullptr) continue;
        i = 0;
        each(work, n, group, [&](long at, int) {
          A const d = kept[1] * (h[i] - mean_h - x_hat[i] * mean_hx);
          work.d_x[at] = S(work.accumulate_gradient ? A(work.d_x[at]) + d : d);
          ++i;
        });
      }
  }

 private:
  template <class Work> static std::size_t numbers(Work const& work) {
    return std::size_t(work.positions) * std::size_t(work.channels / work.groups);
  }
  // body(place in x, channel) for each number of a group of a sample.
  template <class Work, class Body>
  static void each(Work const& work, int n, int group, Body const& body) {
    int const width = work.channels / work.groups;
    for (int p = 0; p < work.positions; ++p)
      for (int c = group * width; c < (group + 1) * width; ++c)
        body((long(n) * work.positions + p) * work.channels + c, c);
  }
  template <class Work> static A z(Work const& work, A x_hat, int c) {
    A const scaled = work.scale != nullptr ? x_hat * A(work.scale[c]) : x_hat;
    return work.shift != nullptr ? scaled + A(work.shift[c]) : scaled;
  }
  template <class Work> static Element element(Work const& work, int n, long at) {
    return work.random.element(n, int(at - long(n) * work.positions * work.channels));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

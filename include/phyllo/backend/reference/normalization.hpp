// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/core/finite.hpp>
#include <phyllo/op/normalization.hpp>

#include <cmath>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class Chain, class P> struct Kernels<op::Normalization<Chain>, P> {
  using Op = op::Normalization<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, typename Op::template Sum<P> const& work) {
    wait(exec);
    long const rows = long(work.batch) * work.positions;
    for (int c = 0; c < work.channels; ++c) {
      A const mean = work.mean_sums == nullptr || work.mean_sums[work.channels] == A(0)
                         ? A(0)
                         : work.mean_sums[c] / work.mean_sums[work.channels];
      A sum = 0;
      for (long r = 0; r < rows; ++r) {
        A const x = A(work.x[r * work.channels + c]);
        sum += work.mean_sums == nullptr ? x : (x - mean) * (x - mean);
      }
      work.sums[c] = sum;
    }
    if (work.mean_sums == nullptr) work.sums[work.channels] = A(rows);
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Finish<P> const& work) {
    wait(exec);
    A const count = work.mean_sums[work.channels];
    if (count == A(0)) return;
    for (int c = 0; c < work.channels; ++c) {
      A const mean = work.mean_sums[c] / count, variance = work.square_sums[c] / count;
      work.mean[c] = mean;
      work.inverse_deviation[c] = A(1) / std::sqrt(variance + work.epsilon);
      if (count == A(1)) continue;
      A const unbiased = work.square_sums[c] / (count - A(1));
      A const momentum = work.momentum;
      auto const average = [momentum](float running, A of_batch) {
        return float((A(1) - momentum) * A(running) + momentum * of_batch);
      };
      float const running_mean = average(work.running_mean[c], mean);
      float const running_variance = average(work.running_variance[c], unbiased);
      if (is_finite(running_mean) && is_finite(running_variance)) {
        work.running_mean[c] = running_mean;
        work.running_variance[c] = running_variance;
      }
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    int const size = work.positions * work.channels;
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < size; ++i) {
        int const c = i % work.channels;
        A const mean = work.mean != nullptr ? work.mean[c] : A(work.running_mean[c]);
        A const inverse = work.mean != nullptr
                              ? work.inverse_deviation[c]
                              : A(1) / std::sqrt(A(work.running_variance[c]) + work.epsilon);
        long const at = long(n) * size + i;
        A z = (A(work.x[at]) - mean) * inverse * op::scale_at<A>(work.scale, c) +
              op::shift_at<A>(work.shift, c);
        if (work.added != nullptr) z += A(work.added[at]);
        work.y[at] = S(Chain::value(z, work.random.element(n, i)));
      }
  }

  // Gradient at the input of the chain, whose input and, where it is asked for, output are
  // recomputed.
  template <class Work> static A gradient(Work const& work, int n, int i, A& x_hat) {
    int const c = i % work.channels;
    long const at = long(n) * work.positions * work.channels + i;
    x_hat = (A(work.x[at]) - work.mean[c]) * work.inverse_deviation[c];
    A z = x_hat * op::scale_at<A>(work.scale, c) + op::shift_at<A>(work.shift, c);
    if (work.added != nullptr) z += A(work.added[at]);
    Element const e = work.random.element(n, i);
    A const output = work.y != nullptr ? A(work.y[at]) : Chain::value(z, e);
    A const kept = Chain::derivative_of == Derivative::output ? output : z;
    return A(work.d_y[at]) * Chain::derivative(kept, e);
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template BackwardSums<P> const& work) {
    wait(exec);
    for (int i = 0; i < 2 * work.channels; ++i) work.sums[i] = 0;
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < work.positions * work.channels; ++i) {
        A x_hat = 0;
        A const g = gradient(work, n, i, x_hat);
        work.sums[i % work.channels] += g;
        work.sums[work.channels + i % work.channels] += g * x_hat;
      }
    for (int c = 0; c < work.channels; ++c) {
      if (work.d_shift != nullptr) work.d_shift[c] = work.sums[c];
      if (work.d_scale != nullptr) work.d_scale[c] = work.sums[work.channels + c];
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    A const count = work.mean_sums[work.channels];
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < work.positions * work.channels; ++i) {
        int const c = i % work.channels;
        A x_hat = 0;
        A const g = gradient(work, n, i, x_hat);
        A const d = op::scale_at<A>(work.scale, c) * work.inverse_deviation[c] *
                    (g - work.sums[c] / count - x_hat * work.sums[work.channels + c] / count);
        long const at = long(n) * work.positions * work.channels + i;
        auto const write = [at](S* to, A value, bool sum) {
          if (to != nullptr) to[at] = S(sum ? A(to[at]) + value : value);
        };
        write(work.d_x, d, work.accumulate_gradient);
        write(work.d_added, g, work.accumulate_added);
      }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/contraction.hpp>
#include <phyllo/op/pooling.hpp>

#include <cmath>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <op::PoolingKind Kind, class P> struct Kernels<op::Pooling<Kind>, P> {
  using Op = op::Pooling<Kind>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  // The first maximal input position of every output position, for one sample and channel.
  template <class Work> static std::vector<int> maxima(Work const& work, S const* x, int c) {
    int const channels = work.input.channels;
    std::vector<int> best(std::size_t(work.output.positions()), -1);
    for_each_tap(work.input, work.output, work.window, [&](int q, int, int p) {
      int& b = best[std::size_t(q)];
      if (b < 0 || (std::isnan(A(x[p * channels + c])) && !std::isnan(A(x[b * channels + c]))) ||
          A(x[p * channels + c]) > A(x[b * channels + c]))
        b = p;
    });
    return best;
  }

  template <class Work> static A divisor(Work const& work, int q) {
    int const(&s)[3] = work.output.spatial;
    return A(op::pooling_divisor<Kind>(work, {q / s[2] / s[1], q / s[2] % s[1], q % s[2]}));
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    int const channels = work.input.channels;
    for (int n = 0; n < work.batch; ++n)
      for (int c = 0; c < channels; ++c) {
        S const* const x = work.x + long(n) * work.input.size();
        S* const y = work.y + long(n) * work.output.size();
        if constexpr (Kind == op::PoolingKind::maximum) {
          auto const best = maxima(work, x, c);
          for (int q = 0; q < work.output.positions(); ++q)
            y[q * channels + c] = x[best[std::size_t(q)] * channels + c];
        } else {
          std::vector<A> sum(std::size_t(work.output.positions()), A(0));
          for_each_tap(work.input, work.output, work.window,
                       [&](int q, int, int p) { sum[std::size_t(q)] += A(x[p * channels + c]); });
          for (int q = 0; q < work.output.positions(); ++q)
            y[q * channels + c] = S(sum[std::size_t(q)] / divisor(work, q));
        }
      }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    int const channels = work.input.channels;
    for (int n = 0; n < work.batch; ++n)
      for (int c = 0; c < channels; ++c) {
        S const* const d_y = work.d_y + long(n) * work.output.size();
        S* const d_x = work.d_x + long(n) * work.input.size();
        std::vector<A> sum(std::size_t(work.input.positions()), A(0));
        if constexpr (Kind == op::PoolingKind::maximum) {
          auto const best = maxima(work, work.x + long(n) * work.input.size(), c);
          for (int q = 0; q < work.output.positions(); ++q)
            sum[std::size_t(best[std::size_t(q)])] += A(d_y[q * channels + c]);
        } else {
          for_each_tap(work.input, work.output, work.window, [&](int q, int, int p) {
            sum[std::size_t(p)] += A(d_y[q * channels + c]) / divisor(work, q);
          });
        }
        for (int p = 0; p < work.input.positions(); ++p) {
          S& d = d_x[p * channels + c];
          d = S(work.accumulate ? A(d) + sum[std::size_t(p)] : sum[std::size_t(p)]);
        }
      }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/map.hpp>

#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class Formula, class Chain, class P> struct Kernels<op::Map<Formula, Chain>, P> {
  using Op = op::Map<Formula, Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    for_each(work, [&](int n, int s, int c) {
      int const i = s * work.channels + c;
      A a[Op::arguments];
      work.read(n, s, c, a);
      A const z = Op::value(a, work.template noise_at<A>(n, i));
      work.y[at(work, n, s, c)] = S(Chain::value(z, work.random.element(n, i)));
    });
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    for (int j = 0; j < Op::operands; ++j) {
      if (work.d_x[j] == nullptr) continue;
      // Sums of the numbers of a source that are read, in the order of the operand's places.
      auto const& x = work.x[j];
      int const positions = x.position_step == 0 ? 1 : work.positions;
      int const channels = x.channel_step == 0 ? 1 : work.channels;
      std::vector<A> sum(std::size_t(work.batch) * std::size_t(positions * channels), A(0));
      auto const of = [&](int n, int s, int c) {
        return (std::size_t(n) * std::size_t(positions) + std::size_t(s * x.position_step)) *
                   std::size_t(channels) +
               std::size_t(c * x.channel_step);
      };
      for_each(work,
               [&](int n, int s, int c) { sum[of(n, s, c)] += derivative(work, n, s, c, j); });
      for (int n = 0; n < work.batch; ++n)
        for (int s = 0; s < positions; ++s)
          for (int c = 0; c < channels; ++c) {
            S& d_x = work.d_x[j][x.place(n, s, work.positions) + c];
            A const d = sum[of(n, s, c)];
            d_x = S(work.accumulate_gradient[j] ? A(d_x) + d : d);
          }
    }
    for (int k = 0; k < Op::parameters; ++k) {
      int const channels = work.parameter_step[k] == 0 ? 1 : work.channels;
      for (int c = 0; c < channels; ++c) work.d_parameter[k][c] = 0;
      for_each(work, [&](int n, int s, int c) {
        work.d_parameter[k][c * work.parameter_step[k]] +=
            derivative(work, n, s, c, Op::operands + k);
      });
    }
  }

 private:
  template <class Work> static long at(Work const& work, int n, int s, int c) {
    return (long(n) * work.positions + s) * work.channels + c;
  }
  template <class Work, class Body> static void for_each(Work const& work, Body const& body) {
    for (int n = 0; n < work.batch; ++n)
      for (int s = 0; s < work.positions; ++s)
        for (int c = 0; c < work.channels; ++c) body(n, s, c);
  }
  // Of the loss by argument number `of`, as one element of the result sees it.
  template <class Work> static A derivative(Work const& work, int n, int s, int c, int of) {
    int const i = s * work.channels + c;
    A a[Op::arguments];
    work.read(n, s, c, a);
    A const noise = work.template noise_at<A>(n, i);
    A const g = Op::gradient(A(work.d_y[at(work, n, s, c)]), Op::value(a, noise),
                             work.random.element(n, i));
    return g * Op::derivatives(a, noise).by[of];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

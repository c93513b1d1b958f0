// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/local_response.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::LocalResponse, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::LocalResponse::Forward<P> const& work) {
    wait(exec);
    int const channels = work.window.channels;
    for (long r = 0; r < work.rows; ++r)
      for (int c = 0; c < channels; ++c)
        work.y[r * channels + c] =
            S(A(work.x[r * channels + c]) * std::pow(base(work, r, c), -work.window.beta));
  }
  // From the formula: y_i depends on x_c by itself and by every base that x_c is part of.
  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::LocalResponse::Backward<P> const& work) {
    wait(exec);
    int const channels = work.window.channels;
    A const beta = work.window.beta;
    for (long r = 0; r < work.rows; ++r) {
      std::vector<A> d(static_cast<std::size_t>(channels));
      for (int i = 0; i < channels; ++i) {
        A const x = A(work.x[r * channels + i]), d_y = A(work.d_y[r * channels + i]);
        A const s = base(work, r, i);
        d[std::size_t(i)] += d_y * std::pow(s, -beta);
        for (int c = 0; c < channels; ++c)
          if (divides(work, i, c))
            d[std::size_t(c)] -= d_y * x * beta * std::pow(s, -beta - 1) * 2 * work.window.share *
                                 A(work.x[r * channels + c]);
      }
      for (int c = 0; c < channels; ++c) {
        S& d_x = work.d_x[r * channels + c];
        d_x = S(work.accumulate ? A(d_x) + d[std::size_t(c)] : d[std::size_t(c)]);
      }
    }
  }

 private:
  // Whether channel c is one of those around channel i.
  template <class Work> static bool divides(Work const& work, int i, int c) {
    int const size = work.window.size;
    return c >= i - size / 2 && c <= i + (size - 1) / 2;
  }
  template <class Work> static A base(Work const& work, long r, int i) {
    A sum = 0;
    for (int c = 0; c < work.window.channels; ++c) {
      A const x = A(work.x[r * work.window.channels + c]);
      if (divides(work, i, c)) sum += x * x;
    }
    return work.window.k + work.window.share * sum;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

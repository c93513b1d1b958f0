// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/row_normalization.hpp>
#include <phyllo/op/softmax.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Softmax, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Softmax::Forward<P> const& work) {
    wait(exec);
    for (long r = 0; r < work.rows; ++r) {
      S const* const x = work.x + r * work.channels;
      A largest = A(x[0]);
      for (int c = 1; c < work.channels; ++c) largest = std::fmax(largest, A(x[c]));
      A sum = 0;
      for (int c = 0; c < work.channels; ++c) sum += std::exp(A(x[c]) - largest);
      for (int c = 0; c < work.channels; ++c)
        work.y[r * work.channels + c] = S(std::exp(A(x[c]) - largest) / sum);
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Softmax::Backward<P> const& work) {
    wait(exec);
    for (long r = 0; r < work.rows; ++r) {
      S const* const y = work.y + r * work.channels;
      S const* const d_y = work.d_y + r * work.channels;
      A dot = 0;
      for (int c = 0; c < work.channels; ++c) dot += A(y[c]) * A(d_y[c]);
      for (int c = 0; c < work.channels; ++c) {
        S& d_x = work.d_x[r * work.channels + c];
        A const d = A(y[c]) * (A(d_y[c]) - dot);
        d_x = S(work.accumulate ? A(d_x) + d : d);
      }
    }
  }
};

template <bool Logarithm, class P> struct Kernels<op::AxisSoftmax<Logarithm>, P> {
  using Op = op::AxisSoftmax<Logarithm>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    each_line(work, [&](long first) {
      auto const x = [&](int i) { return A(work.x[first + long(i) * work.inner]); };
      A largest = x(0), sum = 0;
      for (int i = 1; i < work.extent; ++i) largest = std::fmax(largest, x(i));
      for (int i = 0; i < work.extent; ++i) sum += std::exp(x(i) - largest);
      for (int i = 0; i < work.extent; ++i)
        work.y[first + long(i) * work.inner] =
            S(Logarithm ? x(i) - largest - std::log(sum) : std::exp(x(i) - largest) / sum);
    });
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    each_line(work, [&](long first) {
      A sum = 0;
      for (int i = 0; i < work.extent; ++i) {
        long const at = first + long(i) * work.inner;
        sum += (Logarithm ? A(1) : A(work.y[at])) * A(work.d_y[at]);
      }
      for (int i = 0; i < work.extent; ++i) {
        long const at = first + long(i) * work.inner;
        A const y = A(work.y[at]), d_y = A(work.d_y[at]);
        A const d = Logarithm ? d_y - std::exp(y) * sum : y * (d_y - sum);
        work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + d : d);
      }
    });
  }

 private:
  // line(place of its first number) for each line along the axis.
  template <class Work, class Line> static void each_line(Work const& work, Line const& line) {
    for (long o = 0; o < work.outer; ++o)
      for (int i = 0; i < work.inner; ++i) line(o * work.extent * work.inner + i);
  }
};

template <class Chain, class P> struct Kernels<op::RowNormalization<Chain>, P> {
  using Op = op::RowNormalization<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    int const channels = work.channels;
    for (long r = 0; r < long(work.batch) * work.positions; ++r) {
      S const* const x = work.x + r * channels;
      A mean = 0, square = 0;
      for (int c = 0; c < channels && work.centered; ++c) mean += A(x[c]);
      mean /= A(channels);
      for (int c = 0; c < channels; ++c) square += (A(x[c]) - mean) * (A(x[c]) - mean);
      A const inverse = A(1) / std::sqrt(square / A(channels) + work.epsilon);
      for (int c = 0; c < channels; ++c)
        work.y[r * channels + c] =
            S(Chain::value(z(work, (A(x[c]) - mean) * inverse, c), element(work, r, c)));
      if (work.statistics == nullptr) continue;
      work.statistics[2 * r] = mean;
      work.statistics[2 * r + 1] = inverse;
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    int const channels = work.channels;
    for (int c = 0; c < channels; ++c) {
      if (work.d_scale != nullptr) work.d_scale[c] = 0;
      if (work.d_shift != nullptr) work.d_shift[c] = 0;
    }
    std::vector<A> h(std::size_t(channels), A(0)), x_hat(std::size_t(channels), A(0));
    for (long r = 0; r < long(work.batch) * work.positions; ++r) {
      A mean_h = 0, mean_hx = 0;
      for (int c = 0; c < channels; ++c) {
        auto const i = std::size_t(c);
        long const at = r * channels + c;
        x_hat[i] = (A(work.x[at]) - work.statistics[2 * r]) * work.statistics[2 * r + 1];
        A const in = z(work, x_hat[i], c);
        Element const e = element(work, r, c);
        A const kept = Chain::derivative_of == Derivative::output ? Chain::value(in, e) : in;
        A const g = A(work.d_y[at]) * Chain::derivative(kept, e);
        if (work.d_scale != nullptr) work.d_scale[c] += g * x_hat[i];
        if (work.d_shift != nullptr) work.d_shift[c] += g;
        h[i] = work.scale != nullptr ? g * A(work.scale[c]) : g;
        mean_h += h[i] / A(channels);
        mean_hx += h[i] * x_hat[i] / A(channels);
      }
      if (work.d_x == nullptr) continue;
      if (!work.centered) mean_h = 0;
      for (int c = 0; c < channels; ++c) {
        auto const i = std::size_t(c);
        S& d_x = work.d_x[r * channels + c];
        A const d = work.statistics[2 * r + 1] * (h[i] - mean_h - x_hat[i] * mean_hx);
        d_x = S(work.accumulate_gradient ? A(d_x) + d : d);
      }
    }
  }

 private:
  template <class Work> static A z(Work const& work, A x_hat, int c) {
    A const scaled = work.scale != nullptr ? x_hat * A(work.scale[c]) : x_hat;
    return work.shift != nullptr ? scaled + A(work.shift[c]) : scaled;
  }
  template <class Work> static Element element(Work const& work, long r, int c) {
    return work.random.element(int(r / work.positions),
                               int(r % work.positions) * work.channels + c);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

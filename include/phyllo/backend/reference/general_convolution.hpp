// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/general_convolution.hpp>

#include <cmath>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

/// The definition, written as loops over windows, taps and channels.
template <class Chain, class P> struct Kernels<op::GeneralConvolution<Chain>, P> {
  using Op = op::GeneralConvolution<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Gather<P> const& work) {
    wait(exec);
    Shape const& image = work.shape.image;
    Shape const& grid = work.shape.grid;
    for (int n = 0; n < work.batch; ++n) {
      std::vector<A> sum = begin(work.result, grid);
      for_each(work.shape, [&](int q, int p, int c, int o, long w) {
        sum[std::size_t(q * grid.channels + o)] +=
            A(work.x[(long(n) * image.positions() + p) * image.channels + c]) * A(work.weight[w]);
      });
      finish(work.result, grid, n, sum);
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Spread<P> const& work) {
    wait(exec);
    Shape const& image = work.shape.image;
    Shape const& grid = work.shape.grid;
    for (int n = 0; n < work.batch; ++n) {
      std::vector<A> sum = begin(work.result, image);
      for_each(work.shape, [&](int q, int p, int c, int o, long w) {
        sum[std::size_t(p * image.channels + c)] +=
            A(work.x[(long(n) * grid.positions() + q) * grid.channels + o]) * A(work.weight[w]);
      });
      finish(work.result, image, n, sum);
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template BackwardParameters<P> const& work) {
    wait(exec);
    Shape const& image = work.shape.image;
    Shape const& grid = work.shape.grid;
    for (long w = 0; w < work.shape.weights(); ++w) work.d_weight[w] = 0;
    for (int n = 0; n < work.batch; ++n)
      for_each(work.shape, [&](int q, int p, int c, int o, long w) {
        work.d_weight[w] += A(work.image[(long(n) * image.positions() + p) * image.channels + c]) *
                            A(work.grid[(long(n) * grid.positions() + q) * grid.channels + o]);
      });
    if (work.d_bias == nullptr) return;
    Shape const& of = work.gradient_shape();
    for (int c = 0; c < of.channels; ++c) work.d_bias[c] = 0;
    for (long i = 0; i < long(work.batch) * of.size(); ++i)
      work.d_bias[i % of.channels] += A(work.gradient()[i]);
  }

 private:
  // visit(q, p, c, o, w): weight w stands between channel c at position p and channel o of window
  // q.
  template <class Visit> static void for_each(ConvolutionShape const& s, Visit const& visit) {
    int const channels = s.image_channels(), outputs = s.grid_channels();
    for (int q = 0; q < s.grid.positions(); ++q) {
      auto const taps = [&](int t, int p) {
        for (int g = 0; g < s.groups; ++g)
          for (int c = 0; c < channels; ++c)
            for (int o = g * outputs; o < (g + 1) * outputs; ++o)
              visit(q, p, g * channels + c, o, (long(t) * channels + c) * s.grid.channels + o);
      };
      s.for_each_tap(q, taps);
    }
  }

  static std::vector<A> begin(op::ConvolutionResult<P> const& result, Shape const& shape) {
    std::vector<A> sum(std::size_t(shape.size()));
    for (int i = 0; i < shape.size(); ++i)
      sum[std::size_t(i)] = result.bias != nullptr ? A(result.bias[i % shape.channels]) : A(0);
    return sum;
  }
  static void finish(op::ConvolutionResult<P> const& result, Shape const& shape, int n,
                     std::vector<A> const& sum) {
    for (int i = 0; i < shape.size(); ++i) {
      A z = sum[std::size_t(i)];
      int const c = i % shape.channels;
      long const at = long(n) * shape.size() + i;
      if (result.accumulate) {
        result.y[at] = S(A(result.y[at]) + z);
        continue;
      }
      if (result.fold.mean != nullptr)
        z = (z - A(result.fold.mean[c])) /
                std::sqrt(A(result.fold.variance[c]) + result.fold.epsilon) *
                op::scale_at<A>(result.fold.scale, c) +
            op::shift_at<A>(result.fold.shift, c);
      if (result.saved != nullptr) result.saved[at] = S(z);
      result.y[at] = S(Chain::value(z, result.random.element(n, i)));
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

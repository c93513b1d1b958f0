// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/core/finite.hpp>
#include <phyllo/op/normalization.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one block of rows, `block` channels; sums of x, or of centred squares.
template <class Chain, class P> struct normalization_partial {
  using A = typename P::accumulate;
  typename op::Normalization<Chain>::template Sum<P> work;
  int blocks = 0;  // of channels

  PHYLLO_FUNCTION void operator()(long item) const {
    constexpr int row_blocks = op::Normalization<Chain>::row_blocks;
    int const first = int(item % blocks) * block;
    long const b = item / blocks;
    int const channels = work.channels;
    int const count = channels - first < block ? channels - first : block;
    long const rows = long(work.batch) * work.positions;
    bool const centered = work.mean_sums != nullptr && work.mean_sums[channels] != A(0);
    A sum[block] = {}, mean[block] = {};
    for (int c = 0; centered && c < count; ++c)
      mean[c] = work.mean_sums[first + c] / work.mean_sums[channels];
    for (long r = rows * b / row_blocks; r < rows * (b + 1) / row_blocks; ++r)
      for (int c = 0; c < count; ++c) {
        A const x = A(work.x[r * channels + first + c]) - mean[c];
        sum[c] += centered ? x * x : x;
      }
    for (int c = 0; c < count; ++c) work.partial[b * channels + first + c] = sum[c];
  }
};

/// One work item: one channel, its partial sums in rising order.
template <class Chain, class P> struct normalization_combine {
  using A = typename P::accumulate;
  static constexpr int row_blocks = op::Normalization<Chain>::row_blocks;
  A const* partial = nullptr;  // (row_blocks, count)
  A* sums = nullptr;           // (count)
  int count = 0;
  A rows = 0;
  A* counted = nullptr;             // where the number of rows goes, or nullptr
  A* copy[2] = {nullptr, nullptr};  // where the two halves of the sums go as well, or nullptr

  PHYLLO_FUNCTION void operator()(long c) const { write(c, add(c, 0, row_blocks)); }

  PHYLLO_INLINE A add(long c, int first, int last) const {
    A sum = 0;
    for (int b = first; b < last; ++b) sum += partial[long(b) * count + c];
    return sum;
  }
  PHYLLO_INLINE void write(long c, A sum) const {
    sums[c] = sum;
    if (c == 0 && counted != nullptr) *counted = rows;
    int const half = count / 2;
    if (copy[0] != nullptr && c < half) copy[0][c] = sum;
    if (copy[1] != nullptr && c >= half) copy[1][c - half] = sum;
  }
};

template <class Chain, class P> struct normalization_finish {
  using A = typename P::accumulate;
  typename op::Normalization<Chain>::template Finish<P> work;

  PHYLLO_FUNCTION void operator()(long c) const {
    A const count = work.mean_sums[work.channels];
    if (count == A(0)) return;
    A const mean = work.mean_sums[c] / count, variance = work.square_sums[c] / count;
    work.mean[c] = mean;
    work.inverse_deviation[c] = A(1) / Kokkos::sqrt(variance + work.epsilon);
    A const unbiased = count > A(1) ? work.square_sums[c] / (count - A(1)) : variance;
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
};

template <class Chain, class P> struct normalization_forward {
  using A = typename P::accumulate;
  typename op::Normalization<Chain>::template Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.channels), size = work.positions * work.channels;
    A const mean = work.mean != nullptr ? work.mean[c] : A(work.running_mean[c]);
    A const inverse = work.mean != nullptr
                          ? work.inverse_deviation[c]
                          : A(1) / Kokkos::sqrt(A(work.running_variance[c]) + work.epsilon);
    A z = (A(work.x[at]) - mean) * inverse * op::scale_at<A>(work.scale, c) +
          op::shift_at<A>(work.shift, c);
    if (work.added != nullptr) z += A(work.added[at]);
    Element const e = work.random.element(int(at / size), int(at % size));
    work.y[at] = typename P::storage(Chain::value(z, e));
  }
};

/// Gradient at the input of the chain, which is recomputed from x where the result is not given.
template <class Chain, class A, class Work>
PHYLLO_FUNCTION A normalization_gradient(Work const& work, long at, A& x_hat) {
  int const c = int(at % work.channels), size = work.positions * work.channels;
  x_hat = (A(work.x[at]) - work.mean[c]) * work.inverse_deviation[c];
  if constexpr (Chain::length == 0) return A(work.d_y[at]);
  Element const e = work.random.element(int(at / size), int(at % size));
  if (Chain::derivative_of == Derivative::output && work.y != nullptr)
    return A(work.d_y[at]) * Chain::derivative(A(work.y[at]), e);
  A z = x_hat * op::scale_at<A>(work.scale, c) + op::shift_at<A>(work.shift, c);
  if (work.added != nullptr) z += A(work.added[at]);
  A const kept = Chain::derivative_of == Derivative::output ? Chain::value(z, e) : z;
  return A(work.d_y[at]) * Chain::derivative(kept, e);
}

/// One work item: one block of rows, `block` channels; sums of g and of g x_hat.
template <class Chain, class P> struct normalization_backward_partial {
  using A = typename P::accumulate;
  typename op::Normalization<Chain>::template BackwardSums<P> work;
  int blocks = 0;

  PHYLLO_FUNCTION void operator()(long item) const {
    constexpr int row_blocks = op::Normalization<Chain>::row_blocks;
    int const first = int(item % blocks) * block;
    long const b = item / blocks;
    int const channels = work.channels;
    int const count = channels - first < block ? channels - first : block;
    long const rows = long(work.batch) * work.positions;
    A sum[block] = {}, sum_x[block] = {};
    for (long r = rows * b / row_blocks; r < rows * (b + 1) / row_blocks; ++r)
      for (int c = 0; c < count; ++c) {
        A x_hat = 0;
        A const g = normalization_gradient<Chain, A>(work, r * channels + first + c, x_hat);
        sum[c] += g;
        sum_x[c] += g * x_hat;
      }
    for (int c = 0; c < count; ++c) {
      work.partial[b * 2 * channels + first + c] = sum[c];
      work.partial[b * 2 * channels + channels + first + c] = sum_x[c];
    }
  }
};

template <class Chain, class P> struct normalization_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Normalization<Chain>::template Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.channels);
    A x_hat = 0;
    A const g = normalization_gradient<Chain, A>(work, at, x_hat);
    A const count = work.mean_sums[work.channels];
    A const d = op::scale_at<A>(work.scale, c) * work.inverse_deviation[c] *
                (g - work.sums[c] / count - x_hat * work.sums[work.channels + c] / count);
    if (work.d_x != nullptr) work.d_x[at] = S(work.accumulate_gradient ? A(work.d_x[at]) + d : d);
    if (work.d_added != nullptr)
      work.d_added[at] = S(work.accumulate_added ? A(work.d_added[at]) + g : g);
  }
};

template <class Chain, class P> struct Kernels<op::Normalization<Chain>, P> {
  using Op = op::Normalization<Chain>;
  using A = typename P::accumulate;
  using Combine = normalization_combine<Chain, P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Sum<P> const& work) {
    long const blocks = blocks_of(work.channels, block);
    launch(exec, label, Op::row_blocks * blocks,
           normalization_partial<Chain, P>{work, int(blocks)});
    launch(exec, label, work.channels, combine(work));
  }
  static Combine combine(typename Op::template Sum<P> const& work) {
    A* const counted = work.mean_sums == nullptr ? work.sums + work.channels : nullptr;
    A const rows = A(work.batch) * A(work.positions);
    return {work.partial, work.sums, work.channels, rows, counted, {nullptr, nullptr}};
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Finish<P> const& work) {
    launch(exec, label, work.channels, normalization_finish<Chain, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.positions * work.channels,
           normalization_forward<Chain, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardSums<P> const& work) {
    long const blocks = blocks_of(work.channels, block);
    launch(exec, label, Op::row_blocks * blocks,
           normalization_backward_partial<Chain, P>{work, int(blocks)});
    launch(exec, label, 2L * work.channels, combine(work));
  }
  static Combine combine(typename Op::template BackwardSums<P> const& work) {
    return {work.partial, work.sums, 2 * work.channels,
            A(0),         nullptr,   {work.d_shift, work.d_scale}};
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.positions * work.channels,
           normalization_backward<Chain, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

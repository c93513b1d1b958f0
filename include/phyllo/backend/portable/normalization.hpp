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
    if (count == A(1)) return;
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
};

/// What a channel's numbers are normalised by.
template <class A> struct NormalizationChannel {
  A mean, inverse_deviation, scale, shift;

  NormalizationChannel() = default;
  template <class Work>
  PHYLLO_INLINE NormalizationChannel(Work const& work, int c)
      : mean(work.mean[c]),
        inverse_deviation(work.inverse_deviation[c]),
        scale(op::scale_at<A>(work.scale, c)),
        shift(op::shift_at<A>(work.shift, c)) {}
  PHYLLO_INLINE NormalizationChannel(A m, A inverse, A s, A t)
      : mean(m), inverse_deviation(inverse), scale(s), shift(t) {}

  PHYLLO_INLINE A normalized(A x) const { return (x - mean) * inverse_deviation; }
};

template <class Chain, class P> struct normalization_forward {
  using A = typename P::accumulate;
  typename op::Normalization<Chain>::template Forward<P> work;

  PHYLLO_INLINE NormalizationChannel<A> channel(int c) const {
    if (work.mean != nullptr) return {work, c};
    return {A(work.running_mean[c]),
            A(1) / Kokkos::sqrt(A(work.running_variance[c]) + work.epsilon),
            op::scale_at<A>(work.scale, c), op::shift_at<A>(work.shift, c)};
  }
  /// Of number `at`, which is x; `added` is not looked at where nothing is added.
  PHYLLO_INLINE typename P::storage value(long at, NormalizationChannel<A> const& of, A x,
                                          A added) const {
    int const size = work.positions * work.channels;
    A z = of.normalized(x) * of.scale + of.shift;
    if (work.added != nullptr) z += added;
    Element const e = work.random.element(int(at / size), int(at % size));
    return typename P::storage(Chain::value(z, e));
  }

  PHYLLO_FUNCTION void operator()(long at) const {
    A const added = work.added != nullptr ? A(work.added[at]) : A(0);
    work.y[at] = value(at, channel(int(at % work.channels)), A(work.x[at]), added);
  }
};

/// Numbers of the forward pass that its gradient reads, and the gradient behind it.
template <class A> struct NormalizationNumbers {
  A x = 0, d_y = 0, y = 0, added = 0;
};

/// Whether the derivative of the chain is that at its result, which is given.
template <class Chain, class Work> PHYLLO_INLINE bool reads_result(Work const& work) {
  return Chain::length > 0 && Chain::derivative_of == Derivative::output && work.y != nullptr;
}
/// Whether what was added is read, for the input of the chain.
template <class Chain, class Work> PHYLLO_INLINE bool reads_added(Work const& work) {
  return Chain::length > 0 && !reads_result<Chain>(work) && work.added != nullptr;
}

template <class Chain, class A, class Work>
PHYLLO_INLINE NormalizationNumbers<A> normalization_numbers(Work const& work, long at) {
  return {A(work.x[at]), A(work.d_y[at]), reads_result<Chain>(work) ? A(work.y[at]) : A(0),
          reads_added<Chain>(work) ? A(work.added[at]) : A(0)};
}

/// Gradient at the input of the chain, which is recomputed from x where the result is not given.
template <class Chain, class A, class Work>
PHYLLO_INLINE A normalization_gradient(Work const& work, long at, NormalizationChannel<A> const& of,
                                       NormalizationNumbers<A> const& n, A& x_hat) {
  x_hat = of.normalized(n.x);
  if constexpr (Chain::length == 0) return n.d_y;
  int const size = work.positions * work.channels;
  Element const e = work.random.element(int(at / size), int(at % size));
  if (reads_result<Chain>(work)) return n.d_y * Chain::derivative(n.y, e);
  A z = x_hat * of.scale + of.shift;
  if (work.added != nullptr) z += n.added;
  A const kept = Chain::derivative_of == Derivative::output ? Chain::value(z, e) : z;
  return n.d_y * Chain::derivative(kept, e);
}
template <class Chain, class A, class Work>
PHYLLO_FUNCTION A normalization_gradient(Work const& work, long at, A& x_hat) {
  NormalizationChannel<A> const of(work, int(at % work.channels));
  return normalization_gradient<Chain>(work, at, of, normalization_numbers<Chain, A>(work, at),
                                       x_hat);
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

  /// A channel's means of g and of g x_hat.
  struct Means {
    A of_gradient, of_product;
  };
  PHYLLO_INLINE Means means(int c) const {
    A const count = work.mean_sums[work.channels];
    return {work.sums[c] / count, work.sums[work.channels + c] / count};
  }
  /// The gradients of x and of what was added, which is g.
  PHYLLO_INLINE A gradient(long at, NormalizationChannel<A> const& of, Means const& mean,
                           NormalizationNumbers<A> const& n, A& g) const {
    A x_hat = 0;
    g = normalization_gradient<Chain>(work, at, of, n, x_hat);
    return of.scale * of.inverse_deviation * (g - mean.of_gradient - x_hat * mean.of_product);
  }

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.channels);
    A g = 0;
    A const d = gradient(at, NormalizationChannel<A>(work, c), means(c),
                         normalization_numbers<Chain, A>(work, at), g);
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

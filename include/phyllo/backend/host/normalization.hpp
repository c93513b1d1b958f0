// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/normalization.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels at a time: four lines of memory of each row.
inline constexpr int channels_at_a_time = 64;

/// Rows of a batch normalisation, cut into as many blocks as its sums have parts, and in each a
/// block of channels after the other, whose factors and sums stay in registers or the first-level
/// cache. Several rows of few channels are taken as one, which keeps vectors full; where masks are
/// random each element needs its own place. Derived: void compute(begin, end, first, count, block).
template <class Derived, class Chain, class Work> struct NormalizationRows {
  Work work;

  void operator()(int b) const {
    auto const& derived = static_cast<Derived const&>(*this);
    long const rows = long(work.batch) * work.positions;
    long const begin = rows * b / Derived::row_blocks, end = rows * (b + 1) / Derived::row_blocks;
    for (int c = 0; c < work.channels; c += channels_at_a_time) {
      int const left = work.channels - c;
      derived.compute(begin, end, c, left < channels_at_a_time ? left : channels_at_a_time, b);
    }
  }

 protected:
  int rows_together() const {
    return Chain::random || 2 * work.channels > channels_at_a_time
               ? 1
               : channels_at_a_time / int(work.channels);
  }
  /// run(r, at, numbers): as many numbers from `at` on, `count` channels of row r and of those
  /// that are taken with it.
  template <class Run>
  PHYLLO_INLINE_ON_HOST void each_row(long begin, long end, int first, int count,
                                      Run const& run) const {
    int const rows = rows_together();
    for (long r = begin; r < end; r += rows)
      run(r, r * work.channels + first, int(end - r < rows ? end - r : rows) * count);
  }
  /// set(c, channel) for each number of as many rows.
  template <class Set> void each_channel(int first, int count, Set const& set) const {
    for (int c = 0; c < count * rows_together(); ++c) set(c, first + c % count);
  }
  /// Sums over the rows that are taken together, from one to the next.
  template <class A> void add_rows(A* sum, int count) const {
    for (int c = count; c < count * rows_together(); ++c) sum[c % count] += sum[c];
  }
};

/// Sums of x, and of its squares around the block's own mean: by a few rows at a time, which are
/// read from the first-level cache the second time.
///
/// source   Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing
///          Sample Variances", 1979
template <class Chain, class P>
struct normalization_sums : NormalizationRows<normalization_sums<Chain, P>, Chain,
                                              typename op::Normalization<Chain>::template Sum<P>> {
  using A = typename P::accumulate;
  static constexpr int row_blocks = op::Normalization<Chain>::row_blocks;
  static constexpr int rows_at_a_time = 64;

  void compute(long begin, long end, int first, int count, int b) const {
    auto const& work = this->work;
    long const rows = rows_at_a_time * this->rows_together();
    A total[channels_at_a_time] = {}, squares[channels_at_a_time] = {};
    for (long r = begin; r < end; r += rows) {
      long const last = end - r < rows ? end : r + rows;
      A sum[channels_at_a_time] = {}, square[channels_at_a_time] = {}, mean[channels_at_a_time];
      this->each_row(r, last, first, count, [&](long, long at, int numbers) {
        auto const* const x = work.x + at;
        PHYLLO_SIMD(16)
        for (int c = 0; c < numbers; ++c) sum[c] += number<A>(x, c);
      });
      this->add_rows(sum, count);
      A const here = A(last - r), before = A(r - begin);
      this->each_channel(first, count, [&](int c, int) { mean[c] = sum[c % count] / here; });
      this->each_row(r, last, first, count, [&](long, long at, int numbers) {
        auto const* const x = work.x + at;
        PHYLLO_SIMD(16)
        for (int c = 0; c < numbers; ++c) {
          A const distance = number<A>(x, c) - mean[c];
          square[c] += distance * distance;
        }
      });
      this->add_rows(square, count);
      A const share = before * here / (before + here);
      for (int c = 0; c < count; ++c) {
        A const apart = r == begin ? A(0) : mean[c] - total[c] / before;
        squares[c] += square[c] + apart * apart * share;
        total[c] += sum[c];
      }
    }
    A* const partial = work.partial + long(b) * work.channels + first;
    for (int c = 0; c < count; ++c) {
      partial[c] = total[c];
      partial[long(row_blocks) * work.channels + c] = squares[c];
    }
  }
};

/// One work item: one channel, its squares around the mean of all, from what the pass of sums left.
template <class Chain, class P> struct normalization_squares {
  using A = typename P::accumulate;
  static constexpr int row_blocks = op::Normalization<Chain>::row_blocks;
  typename op::Normalization<Chain>::template Sum<P> work;

  void operator()(int c) const {
    long const rows = long(work.batch) * work.positions, channels = work.channels;
    A const mean = work.mean_sums[c] / work.mean_sums[channels];
    A sum = 0;
    for (int b = 0; b < row_blocks; ++b) {
      A const here = A(rows * (b + 1) / row_blocks - rows * b / row_blocks);
      if (here == A(0)) continue;
      A const apart = work.partial[b * channels + c] / here - mean;
      sum += work.partial[(row_blocks + b) * channels + c] + apart * apart * here;
    }
    work.sums[c] = sum;
  }
};

template <class Chain, class P>
struct normalization_forward
    : NormalizationRows<normalization_forward<Chain, P>, Chain,
                        typename op::Normalization<Chain>::template Forward<P>> {
  using A = typename P::accumulate;
  static constexpr int row_blocks = op::Normalization<Chain>::row_blocks;

  void compute(long begin, long end, int first, int count, int) const {
    if (this->work.added != nullptr)
      rows<true>(begin, end, first, count);
    else
      rows<false>(begin, end, first, count);
  }

 private:
  template <bool Adds> void rows(long begin, long end, int first, int count) const {
    auto const& work = this->work;
    A mean[channels_at_a_time], inverse[channels_at_a_time], scale[channels_at_a_time],
        shift[channels_at_a_time];
    this->each_channel(first, count, [&](int c, int of) {
      bool const training = work.mean != nullptr;
      mean[c] = training ? work.mean[of] : A(work.running_mean[of]);
      inverse[c] = training ? work.inverse_deviation[of]
                            : A(1) / Kokkos::sqrt(A(work.running_variance[of]) + work.epsilon);
      scale[c] = op::scale_at<A>(work.scale, of);
      shift[c] = op::shift_at<A>(work.shift, of);
    });
    this->each_row(begin, end, first, count, [&](long r, long at, int numbers) {
      auto const* const x = work.x + at;
      auto const* const added = Adds ? work.added + at : nullptr;
      auto* const y = work.y + at;
      int const sample = int(r / work.positions);
      int const place = int(r % work.positions) * work.channels + first;
      PHYLLO_SIMD(16)
      for (int c = 0; c < numbers; ++c) {
        A z = (number<A>(x, c) - mean[c]) * inverse[c] * scale[c] + shift[c];
        if constexpr (Adds) z += number<A>(added, c);
        Element const e = Chain::random ? work.random.element(sample, place + c) : Element{};
        store_number(Chain::value(z, e), y, c);
      }
    });
  }
};

/// The second operand of a chain's gradient, beside the input of the normalisation.
enum class Beside { nothing, summand, result };

/// Per-channel constants of the batch-normalisation gradient.
template <class Chain, class P> struct NormalizationSlope {
  using A = typename P::accumulate;
  A mean[channels_at_a_time], inverse[channels_at_a_time], scale[channels_at_a_time],
      shift[channels_at_a_time];

  template <class Work> void set(Work const& work, int c, int of) {
    mean[c] = work.mean[of];
    inverse[c] = work.inverse_deviation[of];
    scale[c] = op::scale_at<A>(work.scale, of);
    shift[c] = op::shift_at<A>(work.shift, of);
  }
  /// Gradient at the chain's input; z is recomputed from x unless the result is available.
  template <Beside beside, class S>
  PHYLLO_INLINE_ON_HOST A gradient(S const* x, S const* d_y, S const* other, int c,
                                   Element const& e, A& x_hat) const {
    x_hat = (number<A>(x, c) - mean[c]) * inverse[c];
    if constexpr (Chain::length == 0) return number<A>(d_y, c);
    if constexpr (beside == Beside::result)
      return number<A>(d_y, c) * Chain::derivative(number<A>(other, c), e);
    A z = x_hat * scale[c] + shift[c];
    if constexpr (beside == Beside::summand) z += number<A>(other, c);
    A const kept = Chain::derivative_of == Derivative::output ? Chain::value(z, e) : z;
    return number<A>(d_y, c) * Chain::derivative(kept, e);
  }
};

/// Rows of a pass over the gradients. Derived: void rows<beside>(other, begin, end, first, count,
/// block), with what stands beside the input of the normalisation.
template <class Derived, class Chain, class Work>
struct NormalizationGradientRows : NormalizationRows<Derived, Chain, Work> {
  void compute(long begin, long end, int first, int count, int b) const {
    auto const& derived = static_cast<Derived const&>(*this);
    auto const& work = this->work;
    if (Chain::derivative_of == Derivative::output && work.y != nullptr)
      derived.template rows<Beside::result>(work.y, begin, end, first, count, b);
    else if (work.added != nullptr)
      derived.template rows<Beside::summand>(work.added, begin, end, first, count, b);
    else
      derived.template rows<Beside::nothing>(work.x, begin, end, first, count, b);
  }
};

/// Sums of g and of g x_hat.
template <class Chain, class P>
struct normalization_backward_sums
    : NormalizationGradientRows<normalization_backward_sums<Chain, P>, Chain,
                                typename op::Normalization<Chain>::template BackwardSums<P>> {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int row_blocks = op::Normalization<Chain>::row_blocks;

  template <Beside beside>
  void rows(S const* other, long begin, long end, int first, int count, int b) const {
    auto const& work = this->work;
    NormalizationSlope<Chain, P> slope;
    A sum[channels_at_a_time] = {}, sum_x[channels_at_a_time] = {};
    this->each_channel(first, count, [&](int c, int of) { slope.set(work, c, of); });
    this->each_row(begin, end, first, count, [&](long r, long at, int numbers) {
      int const sample = int(r / work.positions);
      int const place = int(r % work.positions) * work.channels + first;
      PHYLLO_SIMD(16)
      for (int c = 0; c < numbers; ++c) {
        Element const e = Chain::random ? work.random.element(sample, place + c) : Element{};
        A x_hat = 0;
        A const g =
            slope.template gradient<beside>(work.x + at, work.d_y + at, other + at, c, e, x_hat);
        sum[c] += g;
        sum_x[c] += g * x_hat;
      }
    });
    this->add_rows(sum, count);
    this->add_rows(sum_x, count);
    A* const partial = work.partial + 2L * b * work.channels + first;
    for (int c = 0; c < count; ++c) {
      partial[c] = sum[c];
      partial[work.channels + c] = sum_x[c];
    }
  }
};

template <class Chain, class P>
struct normalization_backward
    : NormalizationGradientRows<normalization_backward<Chain, P>, Chain,
                                typename op::Normalization<Chain>::template Backward<P>> {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int row_blocks = op::Normalization<Chain>::row_blocks;

  template <Beside beside>
  void rows(S const* other, long begin, long end, int first, int count, int) const {
    auto const& work = this->work;
    NormalizationSlope<Chain, P> slope;
    A factor[channels_at_a_time], mean_g[channels_at_a_time], mean_gx[channels_at_a_time];
    A const total = work.mean_sums[work.channels];
    this->each_channel(first, count, [&](int c, int of) {
      slope.set(work, c, of);
      factor[c] = slope.scale[c] * slope.inverse[c];
      mean_g[c] = work.sums[of] / total;
      mean_gx[c] = work.sums[work.channels + of] / total;
    });
    A g[channels_at_a_time], d[channels_at_a_time];
    this->each_row(begin, end, first, count, [&](long r, long at, int numbers) {
      int const sample = int(r / work.positions);
      int const place = int(r % work.positions) * work.channels + first;
      PHYLLO_SIMD(16)
      for (int c = 0; c < numbers; ++c) {
        Element const e = Chain::random ? work.random.element(sample, place + c) : Element{};
        A x_hat = 0;
        g[c] = slope.template gradient<beside>(work.x + at, work.d_y + at, other + at, c, e, x_hat);
        d[c] = factor[c] * (g[c] - mean_g[c] - x_hat * mean_gx[c]);
      }
      write(d, numbers, work.d_x, at, work.accumulate_gradient);
      write(g, numbers, work.d_added, at, work.accumulate_added);
    });
  }

 private:
  static void write(A const* values, int count, S* to, long at, bool sum) {
    if (to == nullptr) return;
    to += at;
    PHYLLO_SIMD(16)
    for (int c = 0; c < count; ++c)
      store_number(sum ? number<A>(to, c) + values[c] : values[c], to, c);
  }
};

/// Batch normalisation by rows, a vector of channels at a time; what is done once for a channel is
/// as in `portable`.
template <class Chain, class P>
struct Kernels<op::Normalization<Chain>, P> : portable::Kernels<op::Normalization<Chain>, P> {
  using Op = op::Normalization<Chain>;
  using Portable = portable::Kernels<Op, P>;
  using Portable::run;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Sum<P> const& work) {
    if (work.mean_sums != nullptr)
      return launch(exec, label, work.channels, normalization_squares<Chain, P>{work});
    launch(exec, label, Op::row_blocks, normalization_sums<Chain, P>{{work}});
    launch(exec, label, work.channels, Portable::combine(work));
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    launch(exec, label, Op::row_blocks, normalization_forward<Chain, P>{{work}});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardSums<P> const& work) {
    launch(exec, label, Op::row_blocks, normalization_backward_sums<Chain, P>{{work}});
    launch(exec, label, 2 * work.channels, Portable::combine(work));
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    launch(exec, label, Op::row_blocks, normalization_backward<Chain, P>{{work}});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

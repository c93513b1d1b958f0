// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/normalization_rows.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/normalization.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Sums of x, and of its squares around the block's own mean: by a few rows at a time, which are
/// read from the first-level cache the second time.
///
/// source   Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing
///          Sample Variances", 1979
template <class Chain, class P>
struct normalization_sums : NormalizationRows<normalization_sums<Chain, P>, Chain,
                                              typename op::Normalization<Chain>::template Sum<P>> {
  using A = typename P::accumulate;
  static constexpr int numbers_at_a_time = 4096;

  void compute(long begin, long end, int first, int count, int b) const {
    auto const& work = this->work;
    int const together = this->rows_together();
    long const rows = long(together) * (numbers_at_a_time / (together * count));
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
      partial[long(RowBlocks(work).count) * work.channels + c] = squares[c];
    }
  }
};

/// One work item: some channels, `add` for the sums of each block of rows in rising order. Derived:
/// void add(sum, block, first, count), void write(first, count, sum).
template <class Derived, class A> struct NormalizationTotals {
  static constexpr int channels = 64;

  void operator()(int item) const {
    auto const& derived = static_cast<Derived const&>(*this);
    int const first = item * channels, left = derived.count() - first;
    int const count = left < channels ? left : channels;
    A sum[channels] = {};
    for (int b = 0; b < derived.blocks.count; ++b) derived.add(sum, b, first, count);
    derived.write(first, count, sum);
  }
  int items() const {
    return int(portable::blocks_of(static_cast<Derived const&>(*this).count(), channels));
  }
};

template <class Combine, class A>
struct normalization_totals : NormalizationTotals<normalization_totals<Combine, A>, A> {
  Combine combine;
  RowBlocks blocks;

  template <class Work>
  normalization_totals(Combine const& c, Work const& work) : combine(c), blocks(work) {}
  int count() const { return combine.count; }
  void add(A* sum, int b, int first, int some) const {
    A const* const partial = combine.partial + long(b) * combine.count + first;
    PHYLLO_SIMD(16)
    for (int c = 0; c < some; ++c) sum[c] += partial[c];
  }
  void write(int first, int some, A const* sum) const {
    for (int c = 0; c < some; ++c) combine.write(first + c, sum[c]);
  }
};

/// Squares around the mean of all, from what the pass of sums left.
template <class Chain, class P>
struct normalization_squares
    : NormalizationTotals<normalization_squares<Chain, P>, typename P::accumulate> {
  using A = typename P::accumulate;
  using Work = typename op::Normalization<Chain>::template Sum<P>;
  Work work;
  RowBlocks blocks;

  explicit normalization_squares(Work const& w) : work(w), blocks(w) {}
  int count() const { return work.channels; }
  void add(A* sum, int b, int first, int some) const {
    A const here = A(blocks.begin(b + 1) - blocks.begin(b));
    if (here == A(0)) return;
    A const total = work.mean_sums[work.channels];
    A const *const means = work.mean_sums + first, *const partial = work.partial + first;
    A const* const sums = partial + long(b) * work.channels;
    A const* const squares = sums + long(blocks.count) * work.channels;
    PHYLLO_SIMD(16)
    for (int c = 0; c < some; ++c) {
      A const apart = sums[c] / here - means[c] / total;
      sum[c] += squares[c] + apart * apart * here;
    }
  }
  void write(int first, int some, A const* sum) const {
    for (int c = 0; c < some; ++c) work.sums[first + c] = sum[c];
  }
};

template <class Chain, class P>
struct normalization_forward
    : NormalizationRows<normalization_forward<Chain, P>, Chain,
                        typename op::Normalization<Chain>::template Forward<P>> {
  using A = typename P::accumulate;

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
    if (work.mean_sums != nullptr) return total(exec, label, normalization_squares<Chain, P>(work));
    by_rows<normalization_sums<Chain, P>>(exec, label, work);
    total(exec, label, Totals(Portable::combine(work), work));
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    by_rows<normalization_forward<Chain, P>>(exec, label, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardSums<P> const& work) {
    by_rows<normalization_backward_sums<Chain, P>>(exec, label, work);
    total(exec, label, Totals(Portable::combine(work), work));
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    by_rows<normalization_backward<Chain, P>>(exec, label, work);
  }

 private:
  using Totals = normalization_totals<typename Portable::Combine, typename P::accumulate>;

  template <class Pass, class Space, class Work>
  static void by_rows(Space const& exec, std::string const& label, Work const& work) {
    launch(exec, label, Pass::items(work), Pass{{work}});
  }
  template <class Space, class Sums>
  static void total(Space const& exec, std::string const& label, Sums const& sums) {
    launch(exec, label, sums.items(), sums);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

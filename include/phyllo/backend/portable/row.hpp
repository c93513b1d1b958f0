// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/backend/portable/rows.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/row_normalization.hpp>
#include <phyllo/op/softmax.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::portable {

// ---- softmax

template <class P> struct softmax_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Softmax::Forward<P> work;

  long rows() const { return work.rows; }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    op::OutputRow<S, A> const x{work.x + r * work.channels};
    op::GradientRow<S, A> const to{work.y + r * work.channels};
    auto const s = loops.template softmax<A>(work.channels, x, to.exact());
    loops.for_each(s, work.channels, x, to);
  }
};

template <class P> struct softmax_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Softmax::Backward<P> work;

  long rows() const { return work.rows; }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    long const at = r * work.channels;
    op::OutputRow<S, A> const y{work.y + at}, d_y{work.d_y + at};
    op::GradientRow<S, A> const to{work.d_x + at, A(1), work.accumulate};
    A const dot = loops.template sum<A>(work.channels, [&](int c) { return y(c) * d_y(c); });
    loops.for_each(work.channels, [&](int c) { to(c, y(c) * (d_y(c) - dot)); });
  }
};

template <class P> struct Kernels<op::Softmax, P> {
  static softmax_forward<P> body(op::Softmax::Forward<P> const& work) { return {work}; }
  static softmax_backward<P> body(op::Softmax::Backward<P> const& work) { return {work}; }

  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    launch_rows(exec, label, work.rows, work.channels, body(work));
  }
};

// ---- normalisation

/// Which parameters a normalisation has, where that is known when it is compiled: loops without
/// a choice become better vectors.
enum class RowParameters { any, scale, both };

/// A row of a normalisation: numbers, parameters, and its statistics once these are known.
template <class Chain, class P, RowParameters Has> struct NormalizedRow {
  using A = typename P::accumulate;
  using S = typename P::storage;
  S const* x;  // (C)
  S const* scale;
  S const* shift;
  Randomness random;
  int sample, place;  // place: of channel 0 in the sample
  A mean, inverse;

  template <class Work>
  PHYLLO_INLINE NormalizedRow(Work const& work, long r)
      : x(work.x + r * work.channels),
        scale(work.scale),
        shift(work.shift),
        random(work.random),
        sample(int(r / work.positions)),
        place(int(r % work.positions) * work.channels),
        mean(0),
        inverse(0) {}

  PHYLLO_INLINE Element element(int c) const {
    if constexpr (Chain::random)
      return random.element(sample, place + c);
    else
      return Element{};
  }
  PHYLLO_INLINE A x_hat(int c) const { return (A(x[c]) - mean) * inverse; }
  PHYLLO_INLINE A scale_of(int c) const {
    if constexpr (Has != RowParameters::any) return A(scale[c]);
    return scale != nullptr ? A(scale[c]) : A(1);
  }
  PHYLLO_INLINE A z(int c) const {
    A const scaled = x_hat(c) * scale_of(c);
    if constexpr (Has == RowParameters::both) return scaled + A(shift[c]);
    if constexpr (Has == RowParameters::scale) return scaled;
    return shift != nullptr ? scaled + A(shift[c]) : scaled;
  }
  /// Gradient at the chain's input.
  PHYLLO_INLINE A gradient(A d_y, int c) const {
    if constexpr (Chain::length == 0) {
      return d_y;
    } else {
      Element const e = element(c);
      A const in = z(c);
      A const kept = Chain::derivative_of == Derivative::output ? Chain::value(in, e) : in;
      return d_y * Chain::derivative(kept, e);
    }
  }
};

template <class Row> struct AddNumbers {
  Row const& row;
  using A = typename Row::A;
  PHYLLO_INLINE A operator()(int c) const { return A(row.x[c]); }
};
template <class Row> struct AddCenteredSquares {
  Row const& row;
  using A = typename Row::A;
  PHYLLO_INLINE A operator()(int c) const {
    A const d = A(row.x[c]) - row.mean;
    return d * d;
  }
};
template <class Chain, class Row> struct StoreNormalized {
  using S = typename Row::S;
  Row const& row;
  S* y;
  PHYLLO_INLINE void operator()(int c) const { y[c] = S(Chain::value(row.z(c), row.element(c))); }
};

template <class Chain, class P, RowParameters Has = RowParameters::any>
struct row_normalization_forward {
  using A = typename P::accumulate;
  using Row = NormalizedRow<Chain, P, Has>;
  typename op::RowNormalization<Chain>::template Forward<P> work;

  long rows() const { return long(work.batch) * work.positions; }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    int const channels = work.channels;
    Row row(work, r);
    A const share = A(1) / A(channels);
    if (work.centered) row.mean = loops.template sum<A>(channels, AddNumbers<Row>{row}) * share;
    A const square = loops.template sum<A>(channels, AddCenteredSquares<Row>{row}) * share;
    row.inverse = A(1) / square_root(square + work.epsilon);
    if (work.statistics != nullptr)
      loops.once([&] {
        work.statistics[2 * r] = row.mean;
        work.statistics[2 * r + 1] = row.inverse;
      });
    loops.for_each(channels, StoreNormalized<Chain, Row>{row, work.y + r * channels});
  }
};

/// Sums over the channels of h and of h x_hat, and what they make of h.
template <class Row> struct AddSlopes {
  using A = typename Row::A;
  Row const& row;
  typename Row::S const* d_y;
  PHYLLO_INLINE A h(int c) const { return row.gradient(A(d_y[c]), c) * row.scale_of(c); }
  PHYLLO_INLINE A operator()(int c) const { return h(c); }
};
template <class Row> struct AddSlopesTimesNumbers {
  using A = typename Row::A;
  AddSlopes<Row> const& slopes;
  PHYLLO_INLINE A operator()(int c) const { return slopes.h(c) * slopes.row.x_hat(c); }
};
template <class Row> struct StoreSlopes {
  using A = typename Row::A;
  AddSlopes<Row> const& slopes;
  op::GradientRow<typename Row::S, A> d_x;
  A mean_h, mean_hx;
  PHYLLO_INLINE void operator()(int c) const {
    d_x(c, slopes.row.inverse * (slopes.h(c) - mean_h - slopes.row.x_hat(c) * mean_hx));
  }
};

template <class Chain, class P, RowParameters Has = RowParameters::any>
struct row_normalization_backward {
  using A = typename P::accumulate;
  using Row = NormalizedRow<Chain, P, Has>;
  typename op::RowNormalization<Chain>::template Backward<P> work;

  long rows() const { return long(work.batch) * work.positions; }
  PHYLLO_INLINE Row row(long r) const {
    Row row(work, r);
    row.mean = work.statistics[2 * r];
    row.inverse = work.statistics[2 * r + 1];
    return row;
  }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    int const channels = work.channels;
    long const at = r * channels;
    Row const row = this->row(r);
    AddSlopes<Row> const slopes{row, work.d_y + at};
    auto const mean = means(slopes, loops);
    loops.for_each(
        channels,
        StoreSlopes<Row>{slopes, {work.d_x + at, A(1), work.accumulate_gradient}, mean.h, mean.hx});
  }

  struct Means {
    A h, hx;
  };
  template <class Loops>
  PHYLLO_INLINE Means means(AddSlopes<Row> const& slopes, Loops const& loops) const {
    int const channels = work.channels;
    A const share = A(1) / A(channels);
    return {work.centered ? loops.template sum<A>(channels, slopes) * share : A(0),
            loops.template sum<A>(channels, AddSlopesTimesNumbers<Row>{slopes}) * share};
  }
};

/// One work item: a block of rows and one channel, sums of g and of g x_hat.
template <class Chain, class P> struct row_normalization_partial {
  using A = typename P::accumulate;
  row_normalization_backward<Chain, P> of;
  long rows;
  int blocks;

  PHYLLO_FUNCTION void operator()(long item) const {
    auto const& work = of.work;
    int const channels = work.channels, c = int(item % channels);
    long const b = item / channels;
    A sum = 0, sum_x = 0;
    for (long r = rows * b / blocks; r < rows * (b + 1) / blocks; ++r) {
      auto const row = of.row(r);
      A const g = row.gradient(A(work.d_y[r * channels + c]), c);
      sum += g;
      sum_x += g * row.x_hat(c);
    }
    work.partial[2 * b * channels + c] = sum;
    work.partial[(2 * b + 1) * channels + c] = sum_x;
  }
};

/// One work item: one channel, its partial sums in rising order.
template <class A> struct row_normalization_combine {
  A const* partial;  // (blocks, 2 C)
  A* d_scale;
  A* d_shift;
  int channels;
  int blocks;

  PHYLLO_FUNCTION void operator()(long c) const {
    A sum = 0, sum_x = 0;
    for (long b = 0; b < blocks; ++b) {
      sum += partial[2 * b * channels + c];
      sum_x += partial[(2 * b + 1) * channels + c];
    }
    if (d_shift != nullptr) d_shift[c] = sum;
    if (d_scale != nullptr) d_scale[c] = sum_x;
  }
};

template <class Space, class Body>
void launch_body(Space const& exec, std::string const& label, Body const& body) {
  launch_rows(exec, label, body.rows(), body.work.channels, body);
}

template <class Chain, class P> struct Kernels<op::RowNormalization<Chain>, P> {
  using Op = op::RowNormalization<Chain>;
  using Forward = typename Op::template Forward<P>;
  using Backward = typename Op::template Backward<P>;

  static row_normalization_forward<Chain, P> body(Forward const& work) { return {work}; }
  static row_normalization_backward<Chain, P> body(Backward const& work) { return {work}; }

  template <class Space>
  static void run(Space const& exec, std::string const& label, Forward const& work) {
    launch_body(exec, label, body(work));
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, Backward const& work) {
    sum_rows(exec, label, work);
    if (work.d_x != nullptr) launch_body(exec, label, body(work));
  }
  /// Before d_x, which may be d_y.
  template <class Space>
  static void sum_rows(Space const& exec, std::string const& label, Backward const& work) {
    if (work.d_scale == nullptr && work.d_shift == nullptr) return;
    long const rows = body(work).rows();
    int const blocks = Op::blocks_of(rows);
    launch(exec, label, long(blocks) * work.channels,
           row_normalization_partial<Chain, P>{body(work), rows, blocks});
    combine(exec, label, work, blocks);
  }
  template <class Space>
  static void combine(Space const& exec, std::string const& label, Backward const& work,
                      int blocks) {
    launch(exec, label, work.channels,
           row_normalization_combine<typename P::accumulate>{work.partial, work.d_scale,
                                                             work.d_shift, work.channels, blocks});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/short_softmax.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/row.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Rows one after the other: those of a piece, whose number does not change their bits.
template <class Body> struct rows_piece {
  Body body;
  int pieces;

  void operator()(int piece) const {
    long const rows = body.rows();
    for (long r = rows * piece / pieces; r < rows * (piece + 1) / pieces; ++r)
      body(r, op::VectorLoops{});
  }
};

/// Rows of `numbers` numbers.
template <class Space, class Body>
void launch_row_pieces(Space const& exec, std::string const& label, Body const& body, int numbers) {
  if (body.rows() == 0) return;
  int const pieces = worthy_pieces(exec, body.rows(), numbers);
  launch(exec, label, pieces, rows_piece<Body>{body, pieces});
}

template <class P> struct Kernels<op::Softmax, P> {
  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    if (work.channels <= ShortRows<typename P::accumulate>::most_of(work))
      return launch_short_softmax<false, P>(exec, label, work, work.rows, work.channels);
    launch_row_pieces(exec, label, portable::Kernels<op::Softmax, P>::body(work), work.channels);
  }
};

/// One piece: one block of rows, sums of g and of g x_hat, and d_x in the same loops.
template <class Body> struct row_normalization_backward_block {
  using A = typename Body::A;
  using S = typename Body::Row::S;
  Body of;
  int blocks;

  void operator()(int b) const {
    auto const& work = of.work;
    int const channels = work.channels;
    A* const sum = work.partial + 2L * b * channels;
    A* const sum_x = sum + channels;
    for (int c = 0; c < 2 * channels; ++c) sum[c] = A(0);
    long r = of.rows() * b / blocks;
    long const end = of.rows() * (b + 1) / blocks;
    if (work.d_x == nullptr) {
      for (; r < end; ++r) add(slopes(r), sum, sum_x);
    } else if (work.accumulate_gradient) {
      for (; r < end; ++r) rows<true>(sum, sum_x, slopes(r));
    } else {
      for (; r + 1 < end; r += 2) rows<false>(sum, sum_x, slopes(r), slopes(r + 1));
      if (r < end) rows<false>(sum, sum_x, slopes(r));
    }
  }

 private:
  struct Slopes {
    typename Body::Row row;
    S const* d_y;
    S* d_x;
    typename Body::Means mean;

    PHYLLO_INLINE_ON_HOST A gradient(int c) const { return row.gradient(number<A>(d_y, c), c); }
    template <bool Added> PHYLLO_INLINE_ON_HOST void store(A g, int c) const {
      A const d = row.inverse * (g * row.scale_of(c) - mean.h - row.x_hat(c) * mean.hx);
      store_number(Added ? number<A>(d_x, c) + d : d, d_x, c);
    }
  };
  PHYLLO_INLINE_ON_HOST Slopes slopes(long r) const {
    auto const& work = of.work;
    long const at = r * work.channels;
    auto const row = of.row(r);
    portable::AddSlopes<typename Body::Row> const terms{row, work.d_y + at};
    if (work.d_x == nullptr) return {row, work.d_y + at, nullptr, {}};
    return {row, work.d_y + at, work.d_x + at, means(terms)};
  }
  // Both sums of a row in one loop.
  PHYLLO_FLATTEN PHYLLO_INLINE_ON_HOST typename Body::Means means(
      portable::AddSlopes<typename Body::Row> const& terms) const {
    constexpr int width = 32;
    int const channels = of.work.channels;
    alignas(64) A h[width] = {}, hx[width] = {};
    int first = 0;
    for (; first + width <= channels; first += width) {
      PHYLLO_SIMD(16)
      for (int l = 0; l < width; ++l) {
        A const slope = terms.h(first + l);
        h[l] += slope;
        hx[l] += slope * terms.row.x_hat(first + l);
      }
    }
    for (int l = 0; first + l < channels; ++l) {
      A const slope = terms.h(first + l);
      h[l] += slope;
      hx[l] += slope * terms.row.x_hat(first + l);
    }
    for (int half = width / 2; half > 0; half /= 2) {
      PHYLLO_SIMD(16)
      for (int l = 0; l < half; ++l) h[l] += h[l + half], hx[l] += hx[l + half];
    }
    A const share = A(1) / A(channels);
    return {of.work.centered ? h[0] * share : A(0), hx[0] * share};
  }
  void add(Slopes const& one, A* sum, A* sum_x) const {
    PHYLLO_SIMD(16)
    for (int c = 0; c < of.work.channels; ++c) {
      A const g = one.gradient(c);
      sum[c] += g;
      sum_x[c] += g * one.row.x_hat(c);
    }
  }
  template <bool Added> void rows(A* sum, A* sum_x, Slopes const one) const {
    PHYLLO_SIMD(16)
    for (int c = 0; c < of.work.channels; ++c) {
      A const g = one.gradient(c);
      sum[c] += g;
      sum_x[c] += g * one.row.x_hat(c);
      one.template store<Added>(g, c);
    }
  }
  // Two rows for each read and write of the sums.
  template <bool Added> void rows(A* sum, A* sum_x, Slopes const one, Slopes const two) const {
    PHYLLO_SIMD(16)
    for (int c = 0; c < of.work.channels; ++c) {
      A const g = one.gradient(c), h = two.gradient(c);
      sum[c] = (sum[c] + g) + h;
      sum_x[c] = (sum_x[c] + g * one.row.x_hat(c)) + h * two.row.x_hat(c);
      one.template store<Added>(g, c);
      two.template store<Added>(h, c);
    }
  }
};

/// One piece: some channels, the sums of their blocks in rising order, as row_normalization_combine
/// has them, by lines of memory.
template <class A> struct row_normalization_combine_lines {
  static constexpr int line = 64;  // channels
  portable::row_normalization_combine<A> of;

  void operator()(int piece) const {
    int const first = piece * line, left = of.channels - first, count = left < line ? left : line;
    add(of.partial + first, count, of.d_shift == nullptr ? nullptr : of.d_shift + first);
    add(of.partial + of.channels + first, count,
        of.d_scale == nullptr ? nullptr : of.d_scale + first);
  }

 private:
  void add(A const* from, int count, A* to) const {
    if (to == nullptr) return;
    for (int c = 0; c < count; ++c) to[c] = A(0);
    for (long b = 0; b < of.blocks; ++b, from += 2L * of.channels) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) to[c] += from[c];
    }
  }
};

/// Vectors over the channels of a row; the parameters that there are, are known when compiled.
template <class Chain, class P> struct Kernels<op::RowNormalization<Chain>, P> {
  using Op = op::RowNormalization<Chain>;
  using Has = portable::RowParameters;

  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    if (work.scale == nullptr)
      run_body(exec, label, body<Has::any>(work));
    else if (work.shift == nullptr)
      run_body(exec, label, body<Has::scale>(work));
    else
      run_body(exec, label, body<Has::both>(work));
  }

 private:
  template <Has has>
  static portable::row_normalization_forward<Chain, P, has> body(
      typename Op::template Forward<P> const& work) {
    return {work};
  }
  template <Has has>
  static portable::row_normalization_backward<Chain, P, has> body(
      typename Op::template Backward<P> const& work) {
    return {work};
  }
  template <class Space, Has has>
  static void run_body(Space const& exec, std::string const& label,
                       portable::row_normalization_forward<Chain, P, has> const& body) {
    launch_row_pieces(exec, label, body, body.work.channels);
  }
  template <class Space, Has has>
  static void run_body(Space const& exec, std::string const& label,
                       portable::row_normalization_backward<Chain, P, has> const& body) {
    auto const& work = body.work;
    if (work.d_scale == nullptr && work.d_shift == nullptr) {
      if (work.d_x != nullptr) launch_row_pieces(exec, label, body, body.work.channels);
      return;
    }
    int const blocks = Op::blocks_of(body.rows());
    using Body = portable::row_normalization_backward<Chain, P, has>;
    launch(exec, label, blocks, row_normalization_backward_block<Body>{body, blocks});
    using Lines = row_normalization_combine_lines<typename P::accumulate>;
    launch(exec, label, (work.channels + Lines::line - 1) / Lines::line,
           Lines{{work.partial, work.d_scale, work.d_shift, work.channels, blocks}});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

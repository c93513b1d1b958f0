// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/short_softmax.hpp>
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

/// One piece: one block of rows, sums of g and of g x_hat, and d_x while the rows are in the
/// first-level cache.
template <class Body> struct row_normalization_backward_block {
  using A = typename Body::A;
  Body of;
  int blocks;

  void operator()(int b) const {
    auto const& work = of.work;
    int const channels = work.channels;
    A* const sum = work.partial + 2L * b * channels;
    A* const sum_x = sum + channels;
    for (int c = 0; c < 2 * channels; ++c) sum[c] = A(0);
    for (long r = of.rows() * b / blocks; r < of.rows() * (b + 1) / blocks; ++r) {
      auto const row = of.row(r);
      auto const* const d_y = work.d_y + r * channels;
      PHYLLO_SIMD(16)
      for (int c = 0; c < channels; ++c) {
        A const g = row.gradient(A(d_y[c]), c);
        sum[c] += g;
        sum_x[c] += g * row.x_hat(c);
      }
      if (work.d_x != nullptr) of(r, op::VectorLoops{});
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
    portable::Kernels<Op, P>::combine(exec, label, work, blocks);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

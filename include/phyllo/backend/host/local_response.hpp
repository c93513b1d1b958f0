// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/local_response.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a row that are computed at a time, and the largest window: all that a part reads
/// stays in the first-level cache.
inline constexpr int response_channels = 256;
inline constexpr int most_response_size = 64;

/// The bases and their powers of neighbouring channels of one row, vectors at a time.
template <class A> struct ResponsePart {
  static constexpr int most = response_channels + 2 * most_response_size;
  alignas(64) A square[most + most_response_size];
  alignas(64) A base[most];
  alignas(64) A factor[most];

  /// Of channels [first, last); those beyond the row are zeros.
  template <class S>
  void compute(op::ResponseWindow<A> const& window, S const* x, int first, int last) {
    int const begin = first - window.size / 2, end = last + (window.size - 1) / 2;
    int const from = begin > 0 ? begin : 0, to = end < window.channels ? end : window.channels;
    for (int c = begin; c < from; ++c) square[c - begin] = A(0);
    for (int c = to; c < end; ++c) square[c - begin] = A(0);
    A* const squares = square + (from - begin);
    PHYLLO_SIMD(16)
    for (int c = 0; c < to - from; ++c)
      squares[c] = number<A>(x + from, c) * number<A>(x + from, c);
    int const count = last - first;
    for (int c = 0; c < count; ++c) base[c] = A(0);
    for (int t = 0; t < window.size; ++t) {
      A const* const shifted = square + t;
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) base[c] += shifted[c];
    }
    PHYLLO_SIMD(16)
    for (int c = 0; c < count; ++c) base[c] = window.k + window.share * base[c];
    if (window.beta == A(0.75)) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) {
        A const root = Kokkos::sqrt(base[c]);
        factor[c] = A(1) / (root * Kokkos::sqrt(root));
      }
    } else {
      for (int c = 0; c < count; ++c) factor[c] = window.factor(base[c]);
    }
  }
};

/// One piece: some rows.
template <class P> struct local_response_forward {
  using A = typename P::accumulate;
  op::LocalResponse::Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    int const channels = work.window.channels;
    ResponsePart<A> part;
    for (long r = work.rows * piece / pieces; r < work.rows * (piece + 1) / pieces; ++r)
      for (int first = 0; first < channels; first += response_channels) {
        int const left = channels - first;
        int const count = left < response_channels ? left : response_channels;
        part.compute(work.window, work.x + r * channels, first, first + count);
        auto const* const x = work.x + r * channels + first;
        auto* const y = work.y + r * channels + first;
        PHYLLO_SIMD(16)
        for (int c = 0; c < count; ++c) store_number(number<A>(x, c) * part.factor[c], y, c);
      }
  }
};

/// One piece: some rows.
template <class P> struct local_response_backward {
  using A = typename P::accumulate;
  op::LocalResponse::Backward<P> work;
  int pieces;

  void operator()(int piece) const {
    auto const& window = work.window;
    int const channels = window.channels;
    ResponsePart<A> part;
    alignas(64) A term[ResponsePart<A>::most], sum[response_channels];
    for (long r = work.rows * piece / pieces; r < work.rows * (piece + 1) / pieces; ++r)
      for (int first = 0; first < channels; first += response_channels) {
        int const left = channels - first;
        int const count = left < response_channels ? left : response_channels;
        // The channels that are divided by these: outside of the row the terms are zeros.
        int const begin = first - (window.size - 1) / 2, end = first + count + window.size / 2;
        int const from = begin > 0 ? begin : 0, to = end < channels ? end : channels;
        part.compute(window, work.x + r * channels, from, to);
        for (int c = begin; c < from; ++c) term[c - begin] = A(0);
        for (int c = to; c < end; ++c) term[c - begin] = A(0);
        auto const* const x = work.x + r * channels;
        auto const* const d_y = work.d_y + r * channels;
        A* const terms = term + (from - begin);
        PHYLLO_SIMD(16)
        for (int c = 0; c < to - from; ++c)
          terms[c] =
              number<A>(d_y + from, c) * number<A>(x + from, c) * part.factor[c] / part.base[c];
        for (int c = 0; c < count; ++c) sum[c] = A(0);
        for (int t = 0; t < window.size; ++t) {
          A const* const shifted = term + t;
          PHYLLO_SIMD(16)
          for (int c = 0; c < count; ++c) sum[c] += shifted[c];
        }
        A const share = A(2) * window.beta * window.share;
        A const* const own = part.factor + (first - from);
        PHYLLO_SIMD(16)
        for (int c = 0; c < count; ++c)
          sum[c] = number<A>(d_y + first, c) * own[c] - share * number<A>(x + first, c) * sum[c];
        auto* const d_x = work.d_x + r * channels + first;
        if (work.accumulate) add_numbers(d_x, count, sum);
        store_numbers(sum, count, d_x);
      }
  }
};

/// Sums over shifted channels, a vector at a time; windows of many channels as in `portable`.
template <class P> struct Kernels<op::LocalResponse, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::LocalResponse::Forward<P> const& work) {
    run_pieces<local_response_forward<P>>(exec, label, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::LocalResponse::Backward<P> const& work) {
    run_pieces<local_response_backward<P>>(exec, label, work);
  }

 private:
  template <class Functor, class Space, class Work>
  static void run_pieces(Space const& exec, std::string const& label, Work const& work) {
    if (work.window.size > most_response_size)
      return portable::Kernels<op::LocalResponse, P>::run(exec, label, work);
    int const pieces = worthy_pieces(exec, work.rows, work.window.channels);
    launch(exec, label, pieces, Functor{work, pieces});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a position that are kept in registers: one vector of floats at the widest.
inline constexpr int pooled_channels = 16;

/// Whether a is the maximum rather than b, which stands before it. A not-a-number is larger than
/// any number.
template <class A> PHYLLO_INLINE_ON_HOST bool exceeds(A a, A b) {
  return (a > b) | ((a != a) & (b == b));
}

/// One work item: one output position, all channels.
template <op::PoolingKind Kind, class P> struct pooling_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pooling<Kind>::template Forward<P> work;

  void operator()(long row) const {
    portable::Place const q(work.output, int(row % work.output.positions()));
    portable::Box const taps = portable::taps_inside(work.window, work.input, q);
    int origin[3];
    for (int d = 0; d < 3; ++d)
      origin[d] = q.at[d] * work.window.stride[d] - work.window.padding[d];
    S const* const sample = work.x + row / work.output.positions() * work.input.size();
    [[maybe_unused]] int const divisor = op::pooling_divisor<Kind>(work, q.at);
    for (int c = 0; c < work.input.channels; c += pooled_channels) {
      int const left = work.input.channels - c;
      if (left >= pooled_channels)
        compute<pooled_channels>(sample + c, taps, origin, pooled_channels, row, c, divisor);
      else
        compute<0>(sample + c, taps, origin, left, row, c, divisor);
    }
  }

 private:
  template <int Count>
  void compute(S const* from, portable::Box const& taps, int const (&origin)[3], int some, long row,
               int first, [[maybe_unused]] int divisor) const {
    int const count = Count > 0 ? Count : some;
    constexpr bool maximum = Kind == op::PoolingKind::maximum;
    A result[pooled_channels] = {};
    bool fresh = maximum;
    for (int td = taps.first[0]; td < taps.last[0]; ++td)
      for (int th = taps.first[1]; th < taps.last[1]; ++th)
        for (int tw = taps.first[2]; tw < taps.last[2]; ++tw) {
          long const p = (long(origin[0] + td) * work.input.spatial[1] + origin[1] + th) *
                             work.input.spatial[2] +
                         origin[2] + tw;
          S const* const x = from + p * work.input.channels;
          if (fresh) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) result[c] = number<A>(x, c);
            fresh = false;
          } else if constexpr (maximum) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) {
              A const value = number<A>(x, c);
              result[c] = exceeds(value, result[c]) ? value : result[c];
            }
          } else {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) result[c] += number<A>(x, c);
          }
        }
    if constexpr (!maximum)
      for (int c = 0; c < count; ++c) result[c] /= A(divisor);
    store_numbers(result, count, work.y + row * work.output.channels + first);
  }
};

/// One work item: one input position, all channels; it gathers from the windows that cover it.
template <op::PoolingKind Kind, class P> struct pooling_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pooling<Kind>::template Backward<P> work;

  void operator()(long row) const {
    portable::Place const p(work.input, int(row % work.input.positions()));
    portable::Box const over = portable::outputs_over(work.window, work.output, p);
    for (int c = 0; c < work.input.channels; c += pooled_channels) {
      int const left = work.input.channels - c;
      if (left >= pooled_channels)
        compute<pooled_channels>(over, pooled_channels, row, c);
      else
        compute<0>(over, left, row, c);
    }
  }

 private:
  template <int Count>
  void compute(portable::Box const& over, int some, long row, int first) const {
    int const count = Count > 0 ? Count : some, channels = work.input.channels;
    int const position = int(row % work.input.positions());
    long const n = row / work.input.positions();
    A sum[pooled_channels] = {};
    for (int qd = over.first[0]; qd < over.last[0]; ++qd)
      for (int qh = over.first[1]; qh < over.last[1]; ++qh)
        for (int qw = over.first[2]; qw < over.last[2]; ++qw) {
          int const q = (qd * work.output.spatial[1] + qh) * work.output.spatial[2] + qw;
          S const* const d_y = work.d_y + (n * work.output.positions() + q) * channels + first;
          if constexpr (Kind == op::PoolingKind::maximum) {
            add_where_first<Count>(work.x + n * work.input.size() + first, position, q, d_y, some,
                                   sum);
          } else {
            A const divisor = A(op::pooling_divisor<Kind>(work, {qd, qh, qw}));
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) sum[c] += number<A>(d_y, c) / divisor;
          }
        }
    S* const d_x = work.d_x + row * channels + first;
    if (work.accumulate) add_numbers(d_x, count, sum);
    store_numbers(sum, count, d_x);
  }

  // Adds d_y where the position's number is the first maximum of window q: larger than those before
  // it, and none behind it is larger.
  template <int Count>
  void add_where_first(S const* from, int position, int q, S const* d_y, int some,
                       A (&sum)[pooled_channels]) const {
    int const count = Count > 0 ? Count : some;
    portable::Place const at(work.output, q);
    portable::Box const taps = portable::taps_inside(work.window, work.input, at);
    Window const& w = work.window;
    S const* const own = from + long(position) * work.input.channels;
    A larger[pooled_channels] = {};  // how many numbers are the maximum rather than the own one
    for (int td = taps.first[0]; td < taps.last[0]; ++td)
      for (int th = taps.first[1]; th < taps.last[1]; ++th)
        for (int tw = taps.first[2]; tw < taps.last[2]; ++tw) {
          int const d = at.at[0] * w.stride[0] - w.padding[0] + td;
          int const h = at.at[1] * w.stride[1] - w.padding[1] + th;
          int const x = at.at[2] * w.stride[2] - w.padding[2] + tw;
          int const p = (d * work.input.spatial[1] + h) * work.input.spatial[2] + x;
          S const* const other = from + long(p) * work.input.channels;
          if (p < position) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c)
              larger[c] += exceeds(number<A>(own, c), number<A>(other, c)) ? A(0) : A(1);
          } else if (p > position) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c)
              larger[c] += exceeds(number<A>(other, c), number<A>(own, c)) ? A(1) : A(0);
          }
        }
    PHYLLO_SIMD(16)
    for (int c = 0; c < count; ++c) sum[c] += larger[c] == A(0) ? number<A>(d_y, c) : A(0);
  }
};

/// Maxima and means over windows, a vector of channels at a time.
template <op::PoolingKind Kind, class P> struct Kernels<op::Pooling<Kind>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pooling<Kind>::template Forward<P> const& work) {
    portable::launch(exec, label, long(work.batch) * work.output.positions(),
                     pooling_forward<Kind, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pooling<Kind>::template Backward<P> const& work) {
    portable::launch(exec, label, long(work.batch) * work.input.positions(),
                     pooling_backward<Kind, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

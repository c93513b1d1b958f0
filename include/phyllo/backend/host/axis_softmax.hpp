// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/row.hpp>
#include <phyllo/backend/host/short_softmax.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/axis_softmax.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Lines along an axis that are computed at a time, side by side in memory.
inline constexpr int axis_lanes = 64;

/// One piece: bundles of neighbouring lines, or where the axis is the last, line by line.
/// Derived: void lines(first, count), of `count` lines whose first numbers begin at `first`.
template <class Derived, class Work> struct AxisLines {
  Work work;
  int pieces;

  static int bundles(Work const& work) { return (work.inner + axis_lanes - 1) / axis_lanes; }
  void operator()(int piece) const {
    long const items = work.outer * bundles(work);
    for (long i = items * piece / pieces; i < items * (piece + 1) / pieces; ++i) {
      int const at = int(i % bundles(work)) * axis_lanes, left = work.inner - at;
      static_cast<Derived const&>(*this).lines(i / bundles(work) * work.extent * work.inner + at,
                                               left < axis_lanes ? left : axis_lanes);
    }
  }
};

template <bool Logarithm, class P>
struct axis_softmax_forward : AxisLines<axis_softmax_forward<Logarithm, P>,
                                        typename op::AxisSoftmax<Logarithm>::template Forward<P>> {
  using A = typename P::accumulate;
  using S = typename P::storage;
  // Exponentials are stored in y until their sum is known.
  static constexpr bool keeps = !Logarithm && std::is_same_v<S, A>;

  void lines(long first, int count) const {
    auto const& work = this->work;
    S const* const x = work.x + first;
    S* const y = work.y + first;
    long const inner = work.inner, end = work.extent * inner;
    A largest[axis_lanes], sum[axis_lanes] = {};
    PHYLLO_SIMD(16)
    for (int c = 0; c < count; ++c) largest[c] = number<A>(x, c);
    for (long i = inner; i < end; i += inner) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) {
        A const v = number<A>(x + i, c);
        largest[c] = v > largest[c] ? v : largest[c];
      }
    }
    for (long i = 0; i < end; i += inner) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) {
        A const e = decay(number<A>(x + i, c) - largest[c]);
        sum[c] += e;
        if constexpr (keeps) store_number(e, y + i, c);
      }
    }
    PHYLLO_SIMD(16)
    for (int c = 0; c < count; ++c) sum[c] = Logarithm ? logarithm(sum[c]) : A(1) / sum[c];
    for (long i = 0; i < end; i += inner) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) {
        if constexpr (keeps)
          store_number(number<A>(y + i, c) * sum[c], y + i, c);
        else if constexpr (Logarithm)
          store_number(number<A>(x + i, c) - largest[c] - sum[c], y + i, c);
        else
          store_number(decay(number<A>(x + i, c) - largest[c]) * sum[c], y + i, c);
      }
    }
  }
};

template <bool Logarithm, class P>
struct axis_softmax_backward
    : AxisLines<axis_softmax_backward<Logarithm, P>,
                typename op::AxisSoftmax<Logarithm>::template Backward<P>> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  void lines(long first, int count) const {
    auto const& work = this->work;
    S const *const y = work.y + first, *const d_y = work.d_y + first;
    S* const d_x = work.d_x + first;
    long const inner = work.inner, end = work.extent * inner;
    bool const added = work.accumulate;
    A sum[axis_lanes] = {};
    for (long i = 0; i < end; i += inner) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c)
        sum[c] += Logarithm ? number<A>(d_y + i, c) : number<A>(y + i, c) * number<A>(d_y + i, c);
    }
    for (long i = 0; i < end; i += inner) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) {
        A const p = number<A>(y + i, c), g = number<A>(d_y + i, c);
        A const d = Logarithm ? g - exponential(p) * sum[c] : p * (g - sum[c]);
        store_number(added ? number<A>(d_x + i, c) + d : d, d_x + i, c);
      }
    }
  }
};

/// Vectors over what lies behind the axis; along the last axis, over the numbers of a line.
template <bool Logarithm, class P> struct Kernels<op::AxisSoftmax<Logarithm>, P> {
  using Op = op::AxisSoftmax<Logarithm>;

  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    if (work.inner == 1 && work.extent <= ShortRows<typename P::accumulate>::most_of(work))
      return launch_short_softmax<Logarithm, P>(exec, label, work, work.outer, work.extent);
    if (work.inner == 1)
      return launch_row_pieces(exec, label, portable::Kernels<Op, P>::template body<true>(work),
                               work.extent);
    auto body = across(work);
    long const items = work.outer * body.bundles(work);
    if (items == 0) return;
    body.pieces = worthy_pieces(exec, items,
                                work.extent * (work.inner < axis_lanes ? work.inner : axis_lanes));
    launch(exec, label, body.pieces, body);
  }

 private:
  static axis_softmax_forward<Logarithm, P> across(typename Op::template Forward<P> const& work) {
    return {{work, 1}};
  }
  static axis_softmax_backward<Logarithm, P> across(typename Op::template Backward<P> const& work) {
    return {{work, 1}};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

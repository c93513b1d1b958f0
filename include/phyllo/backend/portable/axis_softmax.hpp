// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/backend/portable/rows.hpp>
#include <phyllo/op/softmax.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Numbers along an axis, a stride apart; contiguous ones make better vectors where that is known
/// when they are compiled.
template <class S, class A, bool Contiguous> struct AxisLine {
  S const* first;
  int inner;
  PHYLLO_INLINE A operator()(int i) const {
    return A(first[Contiguous ? long(i) : long(i) * inner]);
  }
};
/// Where results along an axis go.
template <class S, class A, bool Contiguous> struct StoreAxisLine {
  S* first;
  int inner;
  bool accumulate = false;
  PHYLLO_INLINE void operator()(int i, A value) const {
    S& to = first[Contiguous ? long(i) : long(i) * inner];
    to = S(accumulate ? A(to) + value : value);
  }
};
template <class Line, class Store, class A> struct StoreLogarithms {
  Line const& x;
  Store const& to;
  A shift, logarithm;
  PHYLLO_INLINE void operator()(int i) const { to(i, x(i) - shift - logarithm); }
};

/// One row: one line along the axis.
template <bool Logarithm, class P, bool Contiguous = false> struct axis_softmax_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Line = AxisLine<S, A, Contiguous>;
  using Store = StoreAxisLine<S, A, Contiguous>;
  typename op::AxisSoftmax<Logarithm>::template Forward<P> work;

  long rows() const { return work.outer * work.inner; }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    long const first = r / work.inner * work.extent * work.inner + r % work.inner;
    Line const x{work.x + first, work.inner};
    Store const to{work.y + first, work.inner};
    auto const s = loops.template softmax<A>(work.extent, x, static_cast<A*>(nullptr));
    if constexpr (Logarithm)
      loops.for_each(work.extent,
                     StoreLogarithms<Line, Store, A>{x, to, s.largest, logarithm(s.sum)});
    else
      loops.for_each(s, work.extent, x, to);
  }
};

template <bool Logarithm, class Line> struct AddAxisSlopes {
  Line const& y;
  Line const& d_y;
  PHYLLO_INLINE auto operator()(int i) const {
    if constexpr (Logarithm)
      return d_y(i);
    else
      return y(i) * d_y(i);
  }
};
template <bool Logarithm, class Line, class Store, class A> struct StoreAxisSlopes {
  Line const& y;
  Line const& d_y;
  Store const& to;
  A sum;
  PHYLLO_INLINE void operator()(int i) const {
    if constexpr (Logarithm)
      to(i, d_y(i) - exponential(y(i)) * sum);
    else
      to(i, y(i) * (d_y(i) - sum));
  }
};

/// One row: one line along the axis.
template <bool Logarithm, class P, bool Contiguous = false> struct axis_softmax_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Line = AxisLine<S, A, Contiguous>;
  using Store = StoreAxisLine<S, A, Contiguous>;
  typename op::AxisSoftmax<Logarithm>::template Backward<P> work;

  long rows() const { return work.outer * work.inner; }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    long const first = r / work.inner * work.extent * work.inner + r % work.inner;
    Line const y{work.y + first, work.inner}, d_y{work.d_y + first, work.inner};
    Store const to{work.d_x + first, work.inner, work.accumulate};
    A const sum = loops.template sum<A>(work.extent, AddAxisSlopes<Logarithm, Line>{y, d_y});
    loops.for_each(work.extent, StoreAxisSlopes<Logarithm, Line, Store, A>{y, d_y, to, sum});
  }
};

template <bool Logarithm, class P> struct Kernels<op::AxisSoftmax<Logarithm>, P> {
  using Op = op::AxisSoftmax<Logarithm>;
  template <bool Contiguous = false>
  static axis_softmax_forward<Logarithm, P, Contiguous> body(
      typename Op::template Forward<P> const& work) {
    return {work};
  }
  template <bool Contiguous = false>
  static axis_softmax_backward<Logarithm, P, Contiguous> body(
      typename Op::template Backward<P> const& work) {
    return {work};
  }
  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    launch_rows(exec, label, body(work).rows(), work.extent, body(work));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

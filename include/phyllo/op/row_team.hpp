// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/op/softmax_row.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Two parts of a softmax sum as one. A part that is empty, or -infinity only, has the sum zero.
template <class T>
PHYLLO_INLINE SoftmaxSum<T> joined(SoftmaxSum<T> const& a, SoftmaxSum<T> const& b) {
  if (b.sum == T(0)) return a;
  if (a.sum == T(0)) return b;
  bool const a_leads = a.largest > b.largest;
  T const factor = decay(a_leads ? b.largest - a.largest : a.largest - b.largest);
  return {a_leads ? a.largest : b.largest,
          a_leads ? a.sum + b.sum * factor : b.sum + a.sum * factor};
}

/// How Kokkos joins the parts of a team's lanes.
///
/// source   Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867
template <class T> struct SoftmaxSumReducer {
  using reducer = SoftmaxSumReducer;
  using value_type = SoftmaxSum<T>;
  using result_view_type =
      Kokkos::View<value_type, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  PHYLLO_INLINE explicit SoftmaxSumReducer(value_type& result) : value_(&result) {}
  PHYLLO_INLINE void join(value_type& to, value_type const& from) const { to = joined(to, from); }
  PHYLLO_INLINE void init(value_type& v) const { v = {T(0), T(0)}; }
  PHYLLO_INLINE value_type& reference() const { return *value_; }
  PHYLLO_INLINE result_view_type view() const { return result_view_type(value_); }
  PHYLLO_INLINE bool references_scalar() const { return true; }

 private:
  value_type* value_;
};

/// The loops over a row (op/row_loops.hpp) by all threads and lanes of a Kokkos team, or by the
/// lanes of one of its threads: for devices, where a row by one thread would be read one number at
/// a time by each. Every lane that shares the row has the sums.
template <class Member, bool WholeTeam> struct SharedLoops {
  Member const& member;

  template <class Body> PHYLLO_INLINE void for_each(int channels, Body const& body) const {
    Kokkos::parallel_for(range(0, channels), body);
  }
  template <class T, class Term> PHYLLO_INLINE T sum(int channels, Term const& term) const {
    T total = 0;
    Kokkos::parallel_reduce(range(0, channels), [&](int c, T& part) { part += term(c); }, total);
    return total;
  }
  template <class Test> PHYLLO_INLINE bool any(int first, int last, Test const& test) const {
    int found = 0;
    Kokkos::parallel_reduce(
        range(first, last), [&](int c, int& sum) { sum += int(test(c)); }, found);
    return found != 0;
  }
  /// One read of the row.
  template <class T, class Row>
  PHYLLO_INLINE SoftmaxSum<T> softmax(int channels, Row const& x, T* /*room*/) const {
    SoftmaxSum<T> total;
    Kokkos::parallel_reduce(
        range(0, channels),
        [&](int c, SoftmaxSum<T>& s) {
          // Not-a-numbers go through, as they do in a sum.
          s = joined(s, {x(c), x(c) == -Kokkos::Experimental::infinity_v<T> ? T(0) : T(1)});
        },
        SoftmaxSumReducer<T>(total));
    return total;
  }
  template <class T, class Row, class Body>
  PHYLLO_INLINE void for_each(SoftmaxSum<T> const& s, int channels, Row const& x,
                              Body const& body) const {
    T const share = T(1) / s.sum;
    for_each(channels, [&](int c) { body(c, decay(x(c) - s.largest) * share); });
  }
  template <class Body> PHYLLO_INLINE void once(Body const& body) const {
    if constexpr (WholeTeam)
      Kokkos::single(Kokkos::PerTeam(member), body);
    else
      Kokkos::single(Kokkos::PerThread(member), body);
  }

 private:
  PHYLLO_INLINE auto range(int first, int last) const {
    if constexpr (WholeTeam)
      return Kokkos::TeamVectorRange(member, first, last);
    else
      return Kokkos::ThreadVectorRange(member, first, last);
  }
};

template <class Member> using TeamLoops = SharedLoops<Member, true>;
template <class Member> using LaneLoops = SharedLoops<Member, false>;

}  // namespace phyllo::inline PHYLLO_ISA::op

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/op/dot_product.hpp>
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

/// The threads and lanes of a Kokkos team that share one row: for devices, where a row by one
/// thread would be read one number at a time by each.
template <class Member> struct RowTeam {
  Member const& member;

  template <class Body> PHYLLO_INLINE void for_each(int channels, Body const& body) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, channels), body);
  }
  /// body(c, sum) adds what channel c has.
  template <class T, class Body> PHYLLO_INLINE T sum(int channels, Body const& body) const {
    T total = 0;
    Kokkos::parallel_reduce(Kokkos::TeamVectorRange(member, channels), body, total);
    return total;
  }
  /// Largest of x(c), and the sum of exp(x(c) - largest): one read of the row.
  template <class T, class Row>
  PHYLLO_INLINE SoftmaxSum<T> softmax_sum(int channels, Row const& x) const {
    SoftmaxSum<T> total;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(member, channels),
        [&](int c, SoftmaxSum<T>& s) {
          // Not-a-numbers go through, as they do in a sum.
          s = joined(s, {x(c), x(c) == -Kokkos::Experimental::infinity_v<T> ? T(0) : T(1)});
        },
        SoftmaxSumReducer<T>(total));
    return total;
  }
  /// Whether this thread writes what the row has once; all lanes of it write the same.
  PHYLLO_INLINE bool leads() const { return member.team_rank() == 0; }
  /// No thread continues before all have read.
  PHYLLO_INLINE void barrier() const { member.team_barrier(); }
};

/// The same calls for one thread that has a row to itself: on a processor its loops become vectors.
struct RowThread {
  template <class Body> PHYLLO_INLINE void for_each(int channels, Body const& body) const {
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) body(c);
  }
  template <class T, class Body> PHYLLO_INLINE T sum(int channels, Body const& body) const {
    return sum_channels<T>(channels, body);
  }
  template <class T, class Row>
  PHYLLO_INLINE SoftmaxSum<T> softmax_sum(int channels, Row const& x) const {
    return op::softmax_sum<T>(channels, x);
  }
  PHYLLO_INLINE bool leads() const { return true; }
};

/// Whether a loss has `row_by_team`, the same as `row` by a team.
template <class L> inline constexpr bool is_shared_by_teams = requires { requires L::by_team; };

}  // namespace phyllo::inline PHYLLO_ISA::op

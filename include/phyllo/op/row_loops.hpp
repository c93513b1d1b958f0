// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/op/softmax_row.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// The loops over the C channels of one row, by one thread. Backends choose among these,
/// VectorLoops and TeamLoops; the formulas of losses and of the softmax contain no loop.
struct SerialLoops {
  /// body(c), in any order.
  template <class Body>
  PHYLLO_FLATTEN PHYLLO_INLINE void for_each(int channels, Body const& body) const {
    PHYLLO_SIMD(32)
    for (int c = 0; c < channels; ++c) body(c);
  }
  /// The sum over c of term(c).
  template <class T, class Term> PHYLLO_INLINE T sum(int channels, Term const& term) const {
    T total = 0;
    for (int c = 0; c < channels; ++c) total += term(c);
    return total;
  }
  /// Whether test(c) is true for any c of first .. last - 1.
  template <class Test> PHYLLO_INLINE bool any(int first, int last, Test const& test) const {
    int found = 0;
    PHYLLO_SIMD(16)
    for (int c = first; c < last; ++c) found |= int(test(c));
    return found != 0;
  }
  /// Largest of x(c), and the sum of exp(x(c) - largest). `room` (C): memory that for_each may read
  /// exponentials from, or nullptr.
  template <class T, class Row>
  PHYLLO_INLINE SoftmaxSum<T> softmax(int channels, Row const& x, T* /*room*/) const {
    SoftmaxSum<T> s{x(0), 0};
    for (int c = 1; c < channels; ++c) s.largest = x(c) > s.largest ? x(c) : s.largest;
    for (int c = 0; c < channels; ++c) s.sum += decay(x(c) - s.largest);
    return s;
  }
  /// body(c, exp(x(c) - s.largest) / s.sum).
  template <class T, class Row, class Body>
  PHYLLO_INLINE void for_each(SoftmaxSum<T> const& s, int channels, Row const& x,
                              Body const& body) const {
    T const share = T(1) / s.sum;
    PHYLLO_SIMD(32)
    for (int c = 0; c < channels; ++c) body(c, decay(x(c) - s.largest) * share);
  }
  /// body(), by one thread of those that share the row.
  template <class Body> PHYLLO_INLINE void once(Body const& body) const { body(); }
};

/// The same on a processor: sums of long rows in as many partial sums as fill its vectors.
struct VectorLoops : SerialLoops {
  using SerialLoops::for_each;

  template <class T, class Term>
  PHYLLO_FLATTEN PHYLLO_INLINE T sum(int channels, Term const& term) const {
    T total = 0;
    int c = 0;
    if (channels >= row_lanes)
      c = add_blocks<row_lanes>(channels, term, total);
    else if (channels >= 16)
      c = add_blocks<16>(channels, term, total);
    for (; c < channels; ++c) total += term(c);
    return total;
  }
  template <class T, class Row>
  PHYLLO_INLINE KeptSoftmax<T> softmax(int channels, Row const& x, T* room) const {
    KeptSoftmax<T> s{{}, SoftmaxPass<T>(channels), nullptr};
    SoftmaxSum<T>& sum = s;
    if (room != nullptr && channels >= row_lanes) {
      sum = s.pass(x, [room](int c, T e) { room[c] = e; });
      s.kept = room;
    } else if (channels >= 64) {
      sum = s.pass(x, [](int, T) {});
    } else {
      sum = SerialLoops::softmax<T>(channels, x, room);
    }
    return s;
  }
  template <class T, class Row, class Body>
  PHYLLO_INLINE void for_each(KeptSoftmax<T> const& s, int channels, Row const& x,
                              Body const& body) const {
    SoftmaxSum<T> const& sum = s;
    if (s.kept == nullptr) return SerialLoops::for_each(sum, channels, x, body);
    T const share = T(1) / s.sum;
    for (int k = 0; k < s.pass.chunks(); ++k) {
      T const shift = s.pass.shift(k);
      T const scale = shift == s.largest ? share : share * decay(shift - s.largest);
      int const first = s.pass.first(k), last = first + s.pass.length(k);
      PHYLLO_SIMD(32)
      for (int c = first; c < last; ++c) body(c, s.kept[c] * scale);
    }
  }

 private:
  // Whole blocks of `Lanes` channels only, in as many partial sums, which are added as a binary
  // tree; returns how many channels they were.
  template <int Lanes, class T, class Term>
  PHYLLO_FLATTEN PHYLLO_INLINE static int add_blocks(int channels, Term const& term, T& total) {
    T part[Lanes] = {};
    int c = 0;
    for (; c + Lanes <= channels; c += Lanes) {
      PHYLLO_SIMD(16)
      for (int l = 0; l < Lanes; ++l) part[l] += term(c + l);
    }
    // The last 16 in registers where the compiler has a reduction for that.
    constexpr int narrow = PHYLLO_HAS_SIMD_SUMS && Lanes > 16 ? 16 : 1;
    for (int width = Lanes / 2; width >= narrow; width /= 2) {
      PHYLLO_SIMD(16)
      for (int l = 0; l < width; ++l) part[l] += part[l + width];
    }
    T last = 0;
    PHYLLO_SIMD_SUM(16, last)
    for (int l = 0; l < narrow; ++l) last += part[l];
    total += last;
    return c;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/op/softmax_row.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// One number of each of 16 rows, for the vectors of processors.
template <class T> struct Lanes {
  static constexpr int size = 16;
  alignas(64) T lane[size];

  Lanes() = default;
  PHYLLO_INLINE_ON_HOST Lanes(T x) : Lanes([x](int) { return x; }, 0) {}
  /// lane[r] = f(r).
  template <class F> PHYLLO_INLINE_ON_HOST Lanes(F const& f, int /*tag*/) {
    PHYLLO_SIMD(16)
    for (int r = 0; r < size; ++r) lane[r] = f(r);
  }
  PHYLLO_INLINE_ON_HOST T operator[](int r) const { return lane[r]; }
  PHYLLO_INLINE_ON_HOST friend Lanes operator+(Lanes const& a, Lanes const& b) {
    return Lanes([&](int r) { return a[r] + b[r]; }, 0);
  }
  PHYLLO_INLINE_ON_HOST friend Lanes operator-(Lanes const& a, Lanes const& b) {
    return Lanes([&](int r) { return a[r] - b[r]; }, 0);
  }
  PHYLLO_INLINE_ON_HOST friend Lanes operator*(Lanes const& a, Lanes const& b) {
    return Lanes([&](int r) { return a[r] * b[r]; }, 0);
  }
  PHYLLO_INLINE_ON_HOST friend Lanes operator/(Lanes const& a, Lanes const& b) {
    return Lanes([&](int r) { return a[r] / b[r]; }, 0);
  }
  PHYLLO_INLINE_ON_HOST friend Lanes operator-(Lanes const& a) { return T(0) - a; }
  PHYLLO_INLINE_ON_HOST friend Lanes decay(Lanes const& a) {
    return Lanes([&](int r) { return phyllo::decay(a[r]); }, 0);
  }
  PHYLLO_INLINE_ON_HOST friend Lanes logarithm(Lanes const& a) {
    return Lanes([&](int r) { return phyllo::logarithm(a[r]); }, 0);
  }
};

/// Rows side by side as a loss with `side_by_side` sees them: each of its numbers is one of every
/// row. See op::LossRow.
///
/// shape    z, gradient (C, rows); label (rows), -1 for a class index outside 0..C-1
template <class A> class TileRow {
 public:
  using number = Lanes<A>;

  PHYLLO_INLINE_ON_HOST TileRow(int channels, A const* z, int const* label, A factor, A* gradient)
      : channels_(channels), z_(z), label_(label), factor_(factor), gradient_(gradient) {}

  template <class L> PHYLLO_INLINE_ON_HOST number evaluate(L const& loss) const {
    number const value = loss(*this);
    clear_unless_given();
    return value;
  }

  PHYLLO_INLINE_ON_HOST int channels() const { return channels_; }
  PHYLLO_INLINE_ON_HOST number operator()(int c) const { return load(z_, c); }
  PHYLLO_INLINE_ON_HOST number is_label(int c) const {
    return number([&](int r) { return c == label_[r] ? A(1) : A(0); }, 0);
  }
  PHYLLO_INLINE_ON_HOST number counts() const {
    return number([&](int r) { return label_[r] == -2 ? A(0) : A(1); }, 0);
  }
  template <class X> PHYLLO_INLINE_ON_HOST number at_label(X const& x) const {
    number of_rows;
    for (int r = 0; r < number::size; ++r)
      of_rows.lane[r] = label_[r] < 0 ? without_label(label_[r]) : of_row(x(label_[r]), r);
    return of_rows;
  }
  PHYLLO_INLINE_ON_HOST number at_label(TileRow const& z) const {
    number of_rows;
    for (int r = 0; r < number::size; ++r)
      of_rows.lane[r] =
          label_[r] < 0 ? without_label(label_[r]) : z.z_[label_[r] * number::size + r];
    return of_rows;
  }

  template <class Term> PHYLLO_INLINE_ON_HOST number sum(Term const& term) const {
    return sum(channels_, term);
  }
  template <class Term> PHYLLO_INLINE_ON_HOST number sum(int count, Term const& term) const {
    number total = A(0);
    for (int c = 0; c < count; ++c) total = total + term(c);
    return total;
  }
  template <class Derivative>
  PHYLLO_INLINE_ON_HOST void gradient(Derivative const& derivative) const {
    has_gradient_ = true;
    gradient(0, channels_, derivative);
  }
  template <class Derivative>
  PHYLLO_INLINE_ON_HOST void gradient(int first, int count, Derivative const& derivative) const {
    clear_unless_given();
    if (gradient_ != nullptr)
      for (int c = first; c < first + count; ++c) store(c, number(factor_) * derivative(c));
  }
  PHYLLO_INLINE_ON_HOST op::SoftmaxSum<number> softmax() const {
    A* const room = has_gradient_ ? nullptr : gradient_;
    number largest = load(z_, 0), sum = A(0);
    for (int c = 1; c < channels_; ++c) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < number::size; ++r) {
        A const x = z_[c * number::size + r];
        largest.lane[r] = x > largest.lane[r] ? x : largest.lane[r];
      }
    }
    for (int c = 0; c < channels_; ++c) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < number::size; ++r) {
        A const e = phyllo::decay(z_[c * number::size + r] - largest[r]);
        sum.lane[r] += e;
        if (room != nullptr) room[c * number::size + r] = e;
      }
    }
    return {largest, sum};
  }
  template <class Derivative>
  PHYLLO_INLINE_ON_HOST void gradient(op::SoftmaxSum<number> const& s,
                                      Derivative const& derivative) const {
    has_gradient_ = true;
    if (gradient_ == nullptr) return;
    number const share = number(A(1)) / s.sum, factor = factor_;
    for (int c = 0; c < channels_; ++c)
      store(c, factor * derivative(c, load(gradient_, c) * share));
  }

  /// See op::LossRow.
  PHYLLO_INLINE_ON_HOST number correct() const {
    alignas(64) A best[number::size];
    alignas(64) int chosen[number::size];
    PHYLLO_SIMD(16)
    for (int r = 0; r < number::size; ++r) {
      best[r] = z_[r];
      chosen[r] = 0;
    }
    for (int c = 1; c < channels_; ++c) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < number::size; ++r) {
        bool const more = z_[c * number::size + r] > best[r];
        best[r] = more ? z_[c * number::size + r] : best[r];
        chosen[r] = more ? c : chosen[r];
      }
    }
    return number([&](int r) { return chosen[r] == label_[r] ? A(1) : A(0); }, 0);
  }

 private:
  PHYLLO_INLINE_ON_HOST static A without_label(int label) {
    return label == -2 ? A(0) : Kokkos::Experimental::quiet_NaN_v<A>;
  }
  PHYLLO_INLINE_ON_HOST void clear_unless_given() const {
    if (!has_gradient_ && gradient_ != nullptr)
      for (int c = 0; c < channels_; ++c) store(c, number(A(0)));
    has_gradient_ = true;
  }
  PHYLLO_INLINE_ON_HOST static A of_row(number const& x, int r) { return x[r]; }
  PHYLLO_INLINE_ON_HOST static A of_row(A x, int) { return x; }
  PHYLLO_INLINE_ON_HOST static number load(A const* from, int c) {
    return number([&](int r) { return from[c * number::size + r]; }, 0);
  }
  PHYLLO_INLINE_ON_HOST void store(int c, number const& value) const {
    PHYLLO_SIMD(16)
    for (int r = 0; r < number::size; ++r) gradient_[c * number::size + r] = value[r];
  }

  int channels_;
  A const* z_;
  int const* label_;
  A factor_;
  A* gradient_;
  mutable bool has_gradient_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/lane_mask.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>
#include <phyllo/op/reduction.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::host {

/// All channels of a position as one number, as many positions side by side as a vector has lanes:
/// one transposition for all of them in place of sums within vectors.
///
/// shape    x (rows, channels) -> y (rows); chosen (rows): how many numbers are the maximum
/// numerics a row's bits depend on its own numbers only; a maximum passes a not-a-number on
template <op::ReductionKind Kind, class P> struct RowReduction {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int width = lanes<A>;
  static constexpr bool is_maximum = op::is_maximum(Kind);

  S const* x;
  int channels;
  A factor;  // on sums
  S* y;
  std::int32_t* chosen;  // nullptr: not counted

  /// Not of rows shorter than a vector, nor of those whose sums need more than one variable each.
  static constexpr bool serves(int channels) {
    return Kind != op::ReductionKind::first_maximum && channels >= width && channels < 256;
  }

  void run(long first, long last) const {
    for (long r = first; r < last; r += width) block(r, last - r < width ? int(last - r) : width);
  }

 private:
  using Square = VectorSquare<A>;

  // Row l of a block; rows that it lacks are its last one.
  S const* row(long first, int count, int l) const {
    return x + (first + (l < count ? l : count - 1)) * channels;
  }
  void block(long first, int count) const {
    A result[width];
    Square square;
    PHYLLO_UNROLL_ON_HOST
    for (int l = 0; l < width; ++l) square.row[l] = lanes_of(row(first, count, l));
    InstructionSet::store(result, joined_rows(square));
    if constexpr (!is_maximum)
      for (A& sum : result) sum *= factor;
    store_numbers(result, count, y + first);
    if constexpr (is_maximum) {
      if (chosen == nullptr) return;
      A equal[width];
      PHYLLO_UNROLL_ON_HOST
      for (int l = 0; l < width; ++l) square.row[l] = equal_to(row(first, count, l), result[l]);
      square.transpose();
      InstructionSet::store(equal, sum_of(square));
      for (int l = 0; l < count; ++l) chosen[first + l] = std::int32_t(equal[l]);
    }
  }

  // The vector that ends with the last number; in the lanes that belong to the one before it, zero.
  int behind() const { return channels % width; }
  LaneMask<A> seen() const {
    A rest[width];
    for (int l = 0; l < width; ++l) rest[l] = l < width - behind() ? A(0) : A(1);
    return LaneMask<A>::equal(InstructionSet::load(rest), InstructionSet::zero(A()));
  }
  PHYLLO_INLINE_ON_HOST Vector<A> lanes_of(S const* from) const {
    Vector<A> all = InstructionSet::load(from);
    for (int c = width; c + width <= channels; c += width)
      all = joined(all, InstructionSet::load(from + c));
    if (behind() == 0) return all;
    Vector<A> const tail = InstructionSet::load(from + channels - width);
    return joined(all, is_maximum ? tail : seen().select(InstructionSet::zero(A()), tail));
  }
  PHYLLO_INLINE_ON_HOST Vector<A> equal_to(S const* from, A value) const {
    Vector<A> const wanted = InstructionSet::broadcast(value);
    Vector<A> all = InstructionSet::zero(A());
    for (int c = 0; c + width <= channels; c += width)
      all = InstructionSet::add(all, ones(InstructionSet::load(from + c), wanted));
    if (behind() == 0) return all;
    Vector<A> const tail = ones(InstructionSet::load(from + channels - width), wanted);
    return InstructionSet::add(all, seen().select(InstructionSet::zero(A()), tail));
  }
  // A not-a-number is equal to another, and to nothing else.
  static PHYLLO_INLINE_ON_HOST Vector<A> ones(Vector<A> v, Vector<A> wanted) {
    auto const neither = LaneMask<A>::unordered(v, v).without(LaneMask<A>::equal(wanted, wanted));
    return (LaneMask<A>::equal(v, wanted) | neither)
        .select(InstructionSet::broadcast(A(1)), InstructionSet::zero(A()));
  }

  static PHYLLO_INLINE_ON_HOST Vector<A> joined(Vector<A> a, Vector<A> b) {
    if constexpr (is_maximum)
      return (LaneMask<A>::greater(b, a) | LaneMask<A>::unordered(b, b)).select(b, a);
    else
      return InstructionSet::add(a, b);
  }
  static PHYLLO_INLINE_ON_HOST Vector<A> joined_rows(Square& square) {
    square.transpose();
    PHYLLO_UNROLL_ON_HOST
    for (int half = width / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) square.row[l] = joined(square.row[l], square.row[l + half]);
    return square.row[0];
  }
  static PHYLLO_INLINE_ON_HOST Vector<A> sum_of(Square& square) {
    PHYLLO_UNROLL_ON_HOST
    for (int half = width / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l)
        square.row[l] = InstructionSet::add(square.row[l], square.row[l + half]);
    return square.row[0];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

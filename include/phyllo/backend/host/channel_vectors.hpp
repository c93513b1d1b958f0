// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/lane_mask.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels that are computed at a time: one 512-bit vector of float.
inline constexpr int pooled_channels = 16;

/// Sixteen channels of a position, in as many vectors as they fill.
template <class A> struct ChannelVectors {
  static constexpr int width = pooled_channels / lanes<A>;
  Vector<A> part[width];

  static PHYLLO_INLINE_ON_HOST ChannelVectors zero() {
    ChannelVectors v;
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i) v.part[i] = InstructionSet::zero(A());
    return v;
  }
  /// All channels, or the first `some` where Count is 0; zeros in the others.
  template <int Count, class S>
  static PHYLLO_INLINE_ON_HOST ChannelVectors load(S const* from, int some) {
    ChannelVectors v;
    if constexpr (Count > 0) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) v.part[i] = InstructionSet::load(from + i * lanes<A>);
    } else {
      A numbers[pooled_channels] = {};
      for (int c = 0; c < some; ++c) numbers[c] = number<A>(from, c);
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) v.part[i] = InstructionSet::load(numbers + i * lanes<A>);
    }
    return v;
  }
  template <int Count, class S> PHYLLO_INLINE_ON_HOST void store(S* to, int some) const {
    if constexpr (Count > 0 && std::is_same_v<S, A>) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) InstructionSet::store(to + i * lanes<A>, part[i]);
    } else {
      A numbers[pooled_channels];
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) InstructionSet::store(numbers + i * lanes<A>, part[i]);
      store_numbers(numbers, Count > 0 ? Count : some, to);
    }
  }
  PHYLLO_INLINE_ON_HOST void add(ChannelVectors const& other) {
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i) part[i] = InstructionSet::add(part[i], other.part[i]);
  }
  PHYLLO_INLINE_ON_HOST void divide(A divisor) {
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i) part[i] = part[i] / InstructionSet::broadcast(divisor);
  }
  /// += factor * other
  PHYLLO_INLINE_ON_HOST void add(A factor, ChannelVectors const& other) {
    Vector<A> const v = InstructionSet::broadcast(factor);
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i)
      part[i] = InstructionSet::multiply_add(v, other.part[i], part[i]);
  }
};

/// visit<Count>(c, some) for blocks of channels begin .. end - 1: sixteen from c on, or, with a
/// Count of 0, the `some` that are left.
template <class Visit>
PHYLLO_INLINE_ON_HOST void each_channel_block(int begin, int end, Visit const& visit) {
  int c = begin;
  for (; c + pooled_channels <= end; c += pooled_channels)
    visit.template operator()<pooled_channels>(c, pooled_channels);
  if (c < end) visit.template operator()<0>(c, end - c);
}

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/four.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/fwd.hpp>
#include <phyllo/op/chain.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Whether an instruction rounds max(x, 0).
template <class Unit>
concept rounds_rectified = requires(float const (&value)[4]) { Unit::rounded_rectified(value); };

/// Four channels of a sample in float, which is what a lane has of a group of 16 outputs.
template <class Unit> struct FourSums {
  using S = typename Unit::storage;
  float value[4];

  FourSums() = default;
  template <int Blocks, int Here>
  PHYLLO_INLINE FourSums(typename Unit::Sums const (&sums)[Blocks][Here], int lane_here, int part) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = sums[Unit::sum_block(c)][lane_here].value[Unit::sum_place(part, c)];
  }
  PHYLLO_INLINE explicit FourSums(Four<S> const& four) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c) value[c] = float(four.value[c]);
  }

  template <class Chain>
  PHYLLO_INLINE void apply(Randomness const& random, int sample, int channel) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = Chain::value(value[c], random.element(sample, channel + c));
  }
  /// Zero from channel `Count` on: of the padding of a layer a chain may have made an infinity,
  /// which weights of zero do not take away.
  template <int Count> PHYLLO_INLINE void end_at(int channel) {
    if constexpr (Count % 16 != 0) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4; ++c)
        if (channel + c >= Count) value[c] = 0;
    }
  }
  /// The chain's values as the storage type has them: zero from channel `Count` on, as above, and
  /// all of them where there is no such sample.
  template <class Chain, int Count>
  PHYLLO_INLINE Four<S> finished(Randomness const& random, int sample, int channel,
                                 bool is_there = true) {
    constexpr bool is_rectified = rounds_rectified<Unit> && std::is_same_v<Chain, op::Chain<ReLU>>;
    if constexpr (!is_rectified) apply<Chain>(random, sample, channel);
    if constexpr (Chain::length > 0) {
      end_at<Count>(channel);
      if (!is_there) *this = FourSums{};
    }
    if constexpr (is_rectified)
      return Unit::rounded_rectified(value);
    else
      return Unit::rounded(value);
  }
  /// Times the derivative at what was kept, which is the chain's input or output.
  template <class Chain>
  PHYLLO_INLINE void differentiate(FourSums const& kept, Randomness const& random, int sample,
                                   int channel) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] *= Chain::derivative(kept.value[c], random.element(sample, channel + c));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

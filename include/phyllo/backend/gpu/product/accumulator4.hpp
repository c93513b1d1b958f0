// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/pack4.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Whether an instruction rounds max(x, 0).
template <class MmaAtom>
concept rounds_rectified = requires(float const (&value)[4]) { MmaAtom::rounded_rectified(value); };

/// Four channels of a sample in float, which is what a lane has of a group of 16 outputs.
template <class MmaAtom> struct Accumulator4 {
  using S = typename MmaAtom::storage;
  float value[4];

  Accumulator4() = default;
  template <int Blocks, int Emulated>
  PHYLLO_INLINE Accumulator4(typename MmaAtom::Sums const (&sums)[Blocks][Emulated],
                             int emulated_lane, int part) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = sums[MmaAtom::sum_block(c)][emulated_lane].value[MmaAtom::sum_place(part, c)];
  }
  PHYLLO_INLINE explicit Accumulator4(Pack4<S> const& four) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c) value[c] = float(four.value[c]);
  }

  template <class Chain>
  PHYLLO_INLINE void apply(Randomness const& random, int sample, int channel) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = Chain::value(value[c], random.element(sample, channel + c));
  }
  /// Zero from channel `Count` on. In the padding, a chain may have computed an infinity, and an
  /// infinite input gives NaN; both remain when multiplied by the next layer's weights of zero.
  template <int Count> PHYLLO_INLINE void end_at(int channel) {
    if constexpr (Count % 16 != 0) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4; ++c)
        if (channel + c >= Count) value[c] = 0;
    }
  }
  /// The chain's values as the storage type has them: zero from channel `Count` on, as above, and
  /// everywhere in rows without a sample: their values follow from the biases, and may overflow.
  template <class Chain, int Count>
  PHYLLO_INLINE Pack4<S> finished(Randomness const& random, int sample, int channel,
                                  bool is_there = true) {
    constexpr bool is_rectified =
        rounds_rectified<MmaAtom> && Chain::activation == Activation::rectifier;
    if constexpr (!is_rectified) apply<Chain>(random, sample, channel);
    end_at<Count>(channel);
    if (!is_there) *this = Accumulator4{};
    if constexpr (is_rectified)
      return MmaAtom::rounded_rectified(value);
    else
      return MmaAtom::rounded(value);
  }
  /// Times the derivative at what was kept, which is the chain's input or output.
  template <class Chain>
  PHYLLO_INLINE void differentiate(Accumulator4 const& kept, Randomness const& random, int sample,
                                   int channel) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] *= Chain::derivative(kept.value[c], random.element(sample, channel + c));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

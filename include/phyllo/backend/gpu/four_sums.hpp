// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/op/chain.hpp>

#include <cstdint>

namespace phyllo::gpu {

/// Four channels of a sample, in two words of the storage type.
struct alignas(8) FourStored {
  std::uint32_t pair[2];
};

/// Four channels of a sample in float, which is what a lane has of a group of 16 outputs.
template <class Unit> struct FourSums {
  float value[4];

  FourSums() = default;
  template <int Blocks, int Here>
  PHYLLO_INLINE FourSums(typename Unit::Sums const (&sums)[Blocks][Here], int lane_here, int part) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = sums[Unit::sum_block(c)][lane_here].value[Unit::sum_place(part, c)];
  }
  PHYLLO_INLINE explicit FourSums(FourStored const& stored) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = float(Unit::storage::from_bits(std::uint16_t(stored.pair[c / 2] >> (c % 2 * 16))));
  }

  PHYLLO_INLINE FourStored stored() const {
    return {{Unit::pack(value[0], value[1]), Unit::pack(value[2], value[3])}};
  }
  /// Where the next layer's instruction wants them.
  PHYLLO_INLINE void pack(typename Unit::Values& values, int part) const {
    values.pair[Unit::value_pair(part, 0)] = Unit::pack(value[0], value[1]);
    values.pair[Unit::value_pair(part, 1)] = Unit::pack(value[2], value[3]);
  }

  template <class Chain>
  PHYLLO_INLINE void apply(Randomness const& random, int sample, int channel) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c)
      value[c] = Chain::value(value[c], random.element(sample, channel + c));
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

}  // namespace phyllo::gpu

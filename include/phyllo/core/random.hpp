// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

struct PhiloxKey {
  std::uint32_t word[2] = {};
};

struct PhiloxBlock {
  std::uint32_t word[4] = {};
};

/// Philox4x32-10: 128 random bits as a bijective function of the counter, one for each key.
///
/// numerics integers only: the same bits on every backend, for any number of threads and ranks
/// cost     20 products of 32 bits
/// source   Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC11 (2011),
///          doi:10.1145/2063384.2063405
PHYLLO_INLINE PhiloxBlock philox(PhiloxKey key, PhiloxBlock counter) {
  PHYLLO_UNROLL
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const first = std::uint64_t(0xD2511F53u) * counter.word[0];
    std::uint64_t const second = std::uint64_t(0xCD9E8D57u) * counter.word[2];
    counter = {{std::uint32_t(second >> 32) ^ counter.word[1] ^ key.word[0], std::uint32_t(second),
                std::uint32_t(first >> 32) ^ counter.word[3] ^ key.word[1], std::uint32_t(first)}};
    key.word[0] += 0x9E3779B9u;  // the golden ratio
    key.word[1] += 0xBB67AE85u;  // sqrt(3) - 1
  }
  return counter;
}

/// The name of one random number: any split of the work draws the same number for the same name.
///
/// numerics different names draw from different places of the generator as long as step < 2^34,
///          position < 2^16, sample < 2^48, with all seeds and elements allowed. Beyond the bounds
///          steps and positions repeat, and a sample repeats another position's. Four elements,
///          4 k to 4 k + 3, share one Philox block.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t position = 0;  // of the layer in the network
  std::uint64_t sample = 0;    // in the batch of all ranks together
  std::uint32_t element = 0;   // in the sample
};

/// Samples of one rank or group that counts them by itself: a batch is an int. Leaves room for
/// 2^17 of them.
inline constexpr std::uint64_t samples_of_one_count = std::uint64_t(1) << 31;

/// The four words of elements 4 k to 4 k + 3, where k = name.element / 4.
///
/// numerics key = seed; counter, from its low end: element / 4 (30 bits), step (34), sample (48),
///          position (16)
PHYLLO_INLINE PhiloxBlock random_block(RandomKey const& name) {
  std::uint64_t const low = (name.step << 30) | (name.element >> 2);
  std::uint64_t const high = (std::uint64_t(name.position) << 48) | name.sample;
  return philox({{std::uint32_t(name.seed), std::uint32_t(name.seed >> 32)}},
                {{std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high),
                  std::uint32_t(high >> 32)}});
}

/// 32 random bits.
PHYLLO_INLINE std::uint32_t random_bits(RandomKey const& name) {
  PhiloxBlock const block = random_block(name);
  // A choice instead of an index keeps the block in registers.
  std::uint32_t const even = (name.element & 2u) != 0 ? block.word[2] : block.word[0];
  std::uint32_t const odd = (name.element & 2u) != 0 ? block.word[3] : block.word[1];
  return (name.element & 1u) != 0 ? odd : even;
}

/// A number in [0, 1) from the upper 24 of 32 random bits.
///
/// numerics a multiple of 2^-24, exact as a float, never 1
PHYLLO_INLINE float uniform01(std::uint32_t bits) {
  return float(std::int32_t(bits >> 8)) * 0x1p-24f;
}

/// A number uniform in [0, 1) under its name.
PHYLLO_INLINE float random_uniform(RandomKey const& name) { return uniform01(random_bits(name)); }

PHYLLO_INLINE float random_uniform(std::uint64_t seed, std::uint64_t step, std::uint32_t position,
                                   std::uint64_t sample, std::uint32_t element) {
  return random_uniform(RandomKey{seed, step, position, sample, element});
}

}  // namespace phyllo::inline PHYLLO_ISA

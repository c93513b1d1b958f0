// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/random_normal.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// random_normal of consecutive elements, block by block of the generator: a quarter of its work,
/// in vectors. The bits are those of random_normal.
///
/// options  Most: elements of a call, at most
template <int Most> class NormalNumbers {
 public:
  /// Elements from `first.element` on.
  template <class A>
  PHYLLO_INLINE_ON_HOST void operator()(RandomKey const& first, int count, A* to) {
    std::uint32_t const begin = first.element & ~3u;
    int const before = int(first.element - begin), blocks = (before + count + 3) / 4;
    PHYLLO_SIMD(16)
    for (int k = 0; k < blocks; ++k) draw(first, begin + 4 * std::uint32_t(k), k);
    for (int pair = 0; pair < 4; pair += 2) {
      PHYLLO_SIMD(16)
      for (int k = 0; k < blocks; ++k) transform(pair, k);
    }
    for (int i = 0; i < count; ++i) to[i] = A(number_[(before + i) % 4][(before + i) / 4]);
  }

 private:
  static constexpr int most_blocks = Most / 4 + 2;

  PHYLLO_INLINE_ON_HOST void draw(RandomKey const& first, std::uint32_t element, int k) {
    PhiloxBlock const block =
        random_block({first.seed, first.step, first.position, first.sample, element});
    word_[0][k] = block.word[0];
    word_[1][k] = block.word[1];
    word_[2][k] = block.word[2];
    word_[3][k] = block.word[3];
  }
  PHYLLO_INLINE_ON_HOST void transform(int pair, int k) {
    float const radius = detail::normal_radius(word_[pair][k]);
    number_[pair][k] = radius * detail::normal_direction(word_[pair + 1][k], 0);
    number_[pair + 1][k] = radius * detail::normal_direction(word_[pair + 1][k], 1);
  }

  alignas(64) std::uint32_t word_[4][most_blocks];
  alignas(64) float number_[4][most_blocks];
};

}  // namespace phyllo::inline PHYLLO_ISA::host

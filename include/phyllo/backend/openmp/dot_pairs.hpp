// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/pair_packing.hpp>

#if defined(PHYLLO_HAS_PAIRS)

#include <cstring>

namespace phyllo::openmp {

/// Products of packed pairs of bfloat16 in vector registers: 16 of them hold sums, 8 rows by two
/// panels, so that two units of six cycles each stay busy and ten loads feed 16 products.
///
/// numerics products of pairs are added in float, in rising order of the depth; subnormal numbers
///          count as zeros
/// source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VDPBF16PS
struct DotPairs {
  struct Session {};                           // nothing to set up
  static constexpr int together = 2;           // panels of columns
  static constexpr bool takes_turned = false;  // left operands of `add`
  static constexpr int fewest_samples = 16;
  static bool permitted() { return true; }

  /// sums (panels, Rows, 16) = a (Rows, depths 32) b (panels, depths 32, 16); `count` rows matter.
  template <int Rows>
  PHYLLO_INLINE static void multiply(int count, bf16 const* a, int stride, bf16 const* b,
                                     int depths, int panels, float* sums) {
    int const pairs = depths * PairPacking::depth / 2;
    if (panels == 2)
      for (int r = 0; r < count; r += 8)
        block<8, 2, Rows, false>(a + r * stride, stride, 2, b, pairs, sums + r * columns);
    else
      for (int r = 0; r < count; r += 16)
        block<16, 1, Rows, false>(a + r * stride, stride, 2, b, pairs, sums + r * columns);
  }

  /// sums (panels, 16, 16) += left (16, Deep 32) right (panels, Deep 32, 16)
  template <int Deep>
  PHYLLO_INLINE static void add(bf16 const* left, bf16 const* right, int panels, float* sums) {
    constexpr int pairs = Deep * PairPacking::depth / 2, word = 2;
    int v = 0;
    for (; v + 2 <= panels; v += 2, right += 2 * Deep * PairPacking::tile, sums += 512)
      for (int r = 0; r < 16; r += 8)
        block<8, 2, 16, true>(left + r * word, word, PairPacking::depth, right, pairs,
                              sums + r * columns);
    if (v < panels) block<16, 1, 16, true>(left, word, PairPacking::depth, right, pairs, sums);
  }

 private:
  static constexpr int columns = PairPacking::columns;

  // A row's pair p stands at row_stride and pair_stride; panels of sums have Height rows.
  template <int Rows, int Panels, int Height, bool Adds>
  PHYLLO_INLINE static void block(bf16 const* a, int row_stride, int pair_stride, bf16 const* b,
                                  int pairs, float* sums) {
    __m512 sum[Rows][Panels];
    PHYLLO_UNROLL
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL
      for (int v = 0; v < Panels; ++v)
        sum[r][v] = Adds ? _mm512_load_ps(sums + (v * Height + r) * columns) : _mm512_setzero_ps();
    }
    for (int p = 0; p < pairs; ++p, a += pair_stride, b += PairPacking::depth) {
      __m512bh right[Panels];
      PHYLLO_UNROLL
      for (int v = 0; v < Panels; ++v)
        right[v] = (__m512bh)_mm512_load_si512(b + v * pairs * PairPacking::depth);
      PHYLLO_UNROLL
      for (int r = 0; r < Rows; ++r) {
        __m512bh const left = broadcast(a + r * row_stride);
        PHYLLO_UNROLL
        for (int v = 0; v < Panels; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], left, right[v]);
      }
    }
    PHYLLO_UNROLL
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL
      for (int v = 0; v < Panels; ++v)
        _mm512_store_ps(sums + (v * Height + r) * columns, sum[r][v]);
    }
  }
  PHYLLO_INLINE static __m512bh broadcast(bf16 const* pair) {
    int word;
    std::memcpy(&word, pair, sizeof(word));
    return (__m512bh)_mm512_set1_epi32(word);
  }
};

}  // namespace phyllo::openmp

#endif

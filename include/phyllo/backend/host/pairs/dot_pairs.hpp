// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/pairs/pair_packing.hpp>

#if defined(PHYLLO_HAS_PAIRS)

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// Products of packed pairs of bfloat16 in vector registers: 16 of them hold sums, 8 rows by two
/// panels, so that two units of six cycles each stay busy and ten loads feed 16 products.
///
/// numerics products of pairs are added in float, in rising order of the depth; subnormal numbers
///          count as zeros
/// source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, VDPBF16PS
struct DotPairs {
  struct Session {};                               // nothing to set up
  static constexpr int together = 2;               // panels of columns
  static constexpr bool takes_transposed = false;  // left operands of `add`
  static constexpr int fewest_samples = 16;
  static bool permitted() { return true; }

  /// sums (panels, Rows, 16) = a (Rows, depths 32) b (panels, depths 32, 16); `count` rows matter.
  template <int Rows>
  PHYLLO_INLINE_ON_HOST static void multiply(int count, bf16 const* a, int stride, bf16 const* b,
                                             int depths, int panels, float* sums) {
    if (panels == 2)
      for (int r = 0; r < count; r += 8)
        product<8, 2, Rows, false>(a + r * stride, stride, 2, b, depths, sums + r * columns);
    else
      for (int r = 0; r < count; r += 16)
        product<16, 1, Rows, false>(a + r * stride, stride, 2, b, depths, sums + r * columns);
  }

  /// sums (panels, 16, 16) += left (16, Deep 32) right (panels, Deep 32, 16)
  template <int Deep>
  PHYLLO_INLINE_ON_HOST static void add(bf16 const* left, bf16 const* right, int panels,
                                        float* sums) {
    int v = 0;
    for (; v + 2 <= panels; v += 2, right += 2 * Deep * tile, sums += 512)
      for (int r = 0; r < 16; r += 8)
        product<8, 2, 16, true>(left + 2 * r, 2, PairPacking::depth, right, Deep,
                                sums + r * columns);
    if (v < panels) product<16, 1, 16, true>(left, 2, PairPacking::depth, right, Deep, sums);
  }

  /// sums (32, 32) = first + left (depths, 2, 16, 32) right (depths, 2, 32, 16), or += where they
  /// are not `fresh`; first: (32), or nullptr for zeros; `count` rows matter.
  static void multiply_panel(int count, int depths, bf16 const* left, bf16 const* right,
                             float* sums, float const* first, bool fresh) {
    constexpr int step = 2 * tile;
    for (int r = 0; r < count; r += 8, sums += 8 * 2 * columns) {
      bf16 const* const a = left + r / 16 * tile + r % 16 * PairPacking::depth;
      Block<8, 2> block;
      if (!fresh)
        block.load(sums, 2 * columns, columns);
      else if (first != nullptr)
        block.load(first, 0, columns);
      else
        block.clear();
      for (int k = 0; k < depths; ++k)
        block.add(a + k * step, PairPacking::depth, 2, right + k * step, tile, pairs);
      block.store(sums, 2 * columns, columns);
    }
  }

 private:
  static constexpr int columns = PairPacking::columns;
  static constexpr int tile = PairPacking::tile;
  static constexpr int pairs = PairPacking::depth / 2;  // of a tile

  template <int Rows, int Panels, int Height, bool Adds>
  PHYLLO_INLINE_ON_HOST static void product(bf16 const* a, int row_stride, int pair_stride,
                                            bf16 const* b, int depths, float* sums) {
    Block<Rows, Panels> block;
    if constexpr (Adds)
      block.load(sums, columns, Height * columns);
    else
      block.clear();
    block.add(a, row_stride, pair_stride, b, depths * tile, depths * pairs);
    block.store(sums, columns, Height * columns);
  }

  // Sums in registers: a vector is 16 columns of a row.
  template <int Rows, int Panels> struct Block {
    __m512 sum[Rows][Panels];

    PHYLLO_INLINE_ON_HOST void clear() {
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) {
        PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Panels; ++v) sum[r][v] = _mm512_setzero_ps();
      }
    }
    PHYLLO_INLINE_ON_HOST void load(float const* from, int row_stride, int panel_stride) {
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) {
        PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Panels; ++v)
          sum[r][v] = _mm512_load_ps(from + r * row_stride + v * panel_stride);
      }
    }
    PHYLLO_INLINE_ON_HOST void store(float* to, int row_stride, int panel_stride) const {
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) {
        PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Panels; ++v)
          _mm512_store_ps(to + r * row_stride + v * panel_stride, sum[r][v]);
      }
    }
    // Pair p of row r stands at a + r row_stride + p pair_stride, of a panel at b + 32 p.
    PHYLLO_INLINE_ON_HOST void add(bf16 const* a, int row_stride, int pair_stride, bf16 const* b,
                                   int panel_stride, int count) {
      for (int p = 0; p < count; ++p, a += pair_stride, b += PairPacking::depth) {
        __m512bh right[Panels];
        PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Panels; ++v)
          right[v] = (__m512bh)_mm512_load_si512(b + v * panel_stride);
        PHYLLO_UNROLL_ON_HOST
        for (int r = 0; r < Rows; ++r) {
          __m512bh const left = broadcast(a + r * row_stride);
          PHYLLO_UNROLL_ON_HOST
          for (int v = 0; v < Panels; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], left, right[v]);
        }
      }
    }
  };
  PHYLLO_INLINE_ON_HOST static __m512bh broadcast(bf16 const* pair) {
    int word;
    std::memcpy(&word, pair, sizeof(word));
    return (__m512bh)_mm512_set1_epi32(word);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif

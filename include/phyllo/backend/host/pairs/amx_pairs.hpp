// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/pairs/amx.hpp>

#if defined(PHYLLO_HAS_AMX)

#include <phyllo/backend/host/pairs/pair_packing.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Products of packed pairs of bfloat16 in matrix registers, whose sums stand in up to four of
/// them.
///
/// numerics products of pairs are added in float, 32 depths at a time; subnormal numbers count as
///          zeros
/// source   Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, TDPBF16PS
struct AmxPairs {
  using Session = AmxTiles;
  static constexpr int together = 1;              // panels of columns
  static constexpr bool takes_transposed = true;  // left operands of `add`
  static constexpr int fewest_samples = AmxTiles::fewest_samples;
  static bool permitted() { return AmxTiles::permitted(); }

  /// sums (panels, Rows, 16) = a (Rows, depths 32) b (panels, depths 32, 16); `count` rows matter.
  template <int Rows>
  PHYLLO_INLINE_ON_HOST static void multiply(int, bf16 const* a, int stride, bf16 const* b,
                                             int depths, int, float* sums) {
    static_assert(Rows == 48 || Rows == 64, "sums fill three or four matrix registers");
    constexpr int rows = PairPacking::rows;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    if constexpr (Rows == 64) _tile_zero(3);
    for (int k = 0; k < depths; ++k, a += PairPacking::depth, b += PairPacking::tile) {
      _tile_loadd(7, b, 64);
      _tile_loadd(4, a, 2 * stride);
      _tile_dpbf16ps(0, 4, 7);
      _tile_loadd(5, a + rows * stride, 2 * stride);
      _tile_dpbf16ps(1, 5, 7);
      _tile_loadd(6, a + 2 * rows * stride, 2 * stride);
      _tile_dpbf16ps(2, 6, 7);
      if constexpr (Rows == 64) {
        _tile_loadd(4, a + 3 * rows * stride, 2 * stride);
        _tile_dpbf16ps(3, 4, 7);
      }
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + 256, 64);
    _tile_stored(2, sums + 512, 64);
    if constexpr (Rows == 64) _tile_stored(3, sums + 768, 64);
  }

  /// sums (panels, 16, 16) += left (16, Deep 32) right (panels, Deep 32, 16)
  template <int Deep>
  PHYLLO_INLINE_ON_HOST static void add(bf16 const* left, bf16 const* right, int panels,
                                        float* sums) {
    static_assert(Deep == 2, "the left operand fills two matrix registers");
    _tile_loadd(4, left, 64);
    _tile_loadd(5, left + PairPacking::tile, 64);
    for (int v = 0; v < panels; ++v, right += Deep * PairPacking::tile, sums += 256) {
      _tile_loadd(0, sums, 64);
      _tile_loadd(6, right, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, right + PairPacking::tile, 64);
      _tile_dpbf16ps(0, 5, 7);
      _tile_stored(0, sums, 64);
    }
  }

  /// sums (32, 32) = first + left (depths, 2, 16, 32) right (depths, 2, 32, 16), or += where they
  /// are not `fresh`; first: (32), or nullptr for zeros; `count` rows matter. Two by two registers
  /// hold sums, and each number that is loaded takes part in two products.
  static void multiply_panel(int count, int depths, bf16 const* left, bf16 const* right,
                             float* sums, float const* first, bool fresh) {
    if (count > PairPacking::rows)
      multiply_panel<true>(depths, left, right, sums, first, fresh);
    else
      multiply_panel<false>(depths, left, right, sums, first, fresh);
  }

 private:
  template <bool Both>
  static void multiply_panel(int depths, bf16 const* left, bf16 const* right, float* sums,
                             float const* first, bool fresh) {
    constexpr int rows = PairPacking::rows, columns = 2 * PairPacking::columns;
    constexpr int tile = PairPacking::tile, stride = 4 * columns;  // bytes
    float* const lower = sums + rows * columns;
    if (fresh && first == nullptr) {
      _tile_zero(0);
      _tile_zero(1);
      if constexpr (Both) _tile_zero(2);
      if constexpr (Both) _tile_zero(3);
    } else {
      if (fresh)
        for (int r = 0; r < (Both ? 2 * rows : rows); ++r) {
          _mm512_store_ps(sums + r * columns, _mm512_load_ps(first));
          _mm512_store_ps(sums + r * columns + 16, _mm512_load_ps(first + 16));
        }
      _tile_loadd(0, sums, stride);
      _tile_loadd(1, sums + 16, stride);
      if constexpr (Both) _tile_loadd(2, lower, stride);
      if constexpr (Both) _tile_loadd(3, lower + 16, stride);
    }
    for (int k = 0; k < depths; ++k, left += 2 * tile, right += 2 * tile) {
      _tile_loadd(6, right, 64);
      _tile_loadd(4, left, 64);
      _tile_loadd(7, right + tile, 64);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      if constexpr (Both) {
        _tile_loadd(5, left + tile, 64);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
    _tile_stored(0, sums, stride);
    _tile_stored(1, sums + 16, stride);
    if constexpr (Both) _tile_stored(2, lower, stride);
    if constexpr (Both) _tile_stored(3, lower + 16, stride);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif

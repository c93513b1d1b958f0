// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/amx.hpp>

#if defined(PHYLLO_HAS_AMX)

#include <phyllo/backend/openmp/matrix_operand.hpp>
#include <phyllo/backend/openmp/vector_square.hpp>
#include <phyllo/core/bf16.hpp>

namespace phyllo::openmp {

/// The innermost part of a matrix product of bfloat16 in matrix registers: two by two of them hold
/// sums, and each number that is loaded takes part in two products.
///
/// shape    a panel of the left operand (depth / 32, 2, 16 rows, 32 depths), of the right one
///          (depth / 32, 2, 16 pairs of depths, 16 columns, 2)
/// numerics products of pairs are added in float, in rising order of the depth; subnormal numbers
///          count as zeros
/// source   Intel 64 and IA-32 Architectures Optimization Reference Manual, ch. 20
template <bool LeftByRows> struct AmxProduct {
  using Packed = bf16;
  using Sum = float;
  using Left = MatrixOperand<bf16, LeftByRows>;
  static constexpr int rows = 2 * AmxTiles::rows;
  static constexpr int columns = 2 * AmxTiles::columns;
  static constexpr int strip = 256;  // 16 KiB of each operand
  static constexpr int strips = 4;
  static constexpr int depth = strip * strips;
  static constexpr int group = 4;
  static constexpr int together = 4;  // 256 bytes of a line of memory
  static constexpr int block_rows = 384;
  static constexpr int block_columns = 512;
  static constexpr int tile = AmxTiles::rows * AmxTiles::depth;
  static constexpr int step = 2 * tile;  // of a strip, for 32 depths
  static constexpr long left_strip = long(rows) * strip;
  static constexpr long right_strip = long(columns) * strip;

  using Session = AmxTiles;

  static void pack_left(Left const& from, long row, int count, long k, int deep, bf16* to,
                        long panel_size) {
    for (int i = 0; i < deep; i += AmxTiles::depth)
      if constexpr (LeftByRows)
        for (int r = 0; r < count; r += AmxTiles::rows)
          store(rows_of(from.at(row + r, k + i), from.stride, count - r, deep - i),
                to + place(r, i, panel_size));
      else
        for (int r = 0; r < count; r += rows) {
          bf16* const at = to + place(r, i, panel_size);
          store_pairs(from.at(row + r, k + i), from.stride, deep - i, count - r, at);
          store(loaded(at).transposed(), at);
          store(loaded(at + tile).transposed(), at + tile);
        }
  }

  template <class Right>
  static void pack_right(Right const& from, long k, int deep, long column, int count, bf16* to,
                         long panel_size) {
    for (int i = 0; i < deep; i += AmxTiles::depth)
      if constexpr (Right::by_rows)
        for (int c = 0; c < count; c += columns)
          store_pairs(from.at(k + i, column + c), from.stride, deep - i, count - c,
                      to + place(c, i, panel_size));
      else
        for (int c = 0; c < count; c += AmxTiles::columns)
          store(rows_of(from.at(k + i, column + c), from.stride, count - c, deep - i).transposed(),
                to + place(c, i, panel_size));
  }

  static void add_columns(bf16 const* right, int deep, float* sums) {
    __m512 sum[2] = {_mm512_loadu_ps(sums), _mm512_loadu_ps(sums + AmxTiles::columns)};
    for (int i = 0; i < deep; i += AmxTiles::depth)
      for (int t = 0; t < 2; ++t, right += tile)
        for (int p = 0; p < AmxTiles::depth / 2; ++p) {  // beyond the depth stand zeros
          __m512i const pair = _mm512_load_si512(right + p * AmxTiles::depth);
          sum[t] = _mm512_add_ps(sum[t], _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16)));
          sum[t] = _mm512_add_ps(sum[t], _mm512_castsi512_ps(_mm512_and_si512(
                                             pair, _mm512_set1_epi32(int(0xffff0000u)))));
        }
    _mm512_storeu_ps(sums, sum[0]);
    _mm512_storeu_ps(sums + AmxTiles::columns, sum[1]);
  }

  static void multiply(int count, int deep, bf16 const* left, bf16 const* right, float* sums,
                       float const* first, bool fresh) {
    if (count > AmxTiles::rows)
      multiply_rows<true>(deep, left, right, sums, first, fresh);
    else
      multiply_rows<false>(deep, left, right, sums, first, fresh);
  }

 private:
  template <bool Both>
  static void multiply_rows(int deep, bf16 const* left, bf16 const* right, float* sums,
                            float const* first, bool fresh) {
    constexpr int stride = 4 * columns;  // bytes
    float* const lower = sums + AmxTiles::rows * columns;
    if (fresh && first == nullptr) {
      _tile_zero(0);
      _tile_zero(1);
      if constexpr (Both) _tile_zero(2);
      if constexpr (Both) _tile_zero(3);
    } else {
      if (fresh)
        for (int r = 0; r < (Both ? rows : AmxTiles::rows); ++r) {
          _mm512_store_ps(sums + r * columns, _mm512_load_ps(first));
          _mm512_store_ps(sums + r * columns + 16, _mm512_load_ps(first + 16));
        }
      _tile_loadd(0, sums, stride);
      _tile_loadd(1, sums + 16, stride);
      if constexpr (Both) _tile_loadd(2, lower, stride);
      if constexpr (Both) _tile_loadd(3, lower + 16, stride);
    }
    for (int i = 0; i < deep; i += AmxTiles::depth, left += step, right += step) {
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

  using Square = VectorSquare<float>;  // bits only

  // Where the matrix register of line n (a row or column) and depth i stands in a strip.
  static long place(int n, int i, long panel_size) {
    static_assert(rows == columns, "panels of both operands are alike");
    return n / rows * panel_size + i / AmxTiles::depth * step + n % rows / AmxTiles::rows * tile;
  }

  static __mmask32 extent(int count, int most) {
    if (count >= most) return __mmask32(0xffffffffu >> (32 - most));
    return count <= 0 ? __mmask32(0) : __mmask32((1u << count) - 1u);
  }

  // Up to 16 lines of up to 32 numbers; zeros beyond.
  PHYLLO_INLINE static Square rows_of(bf16 const* from, long stride, int lines, int count) {
    Square s;
    __mmask32 const inside = extent(count, 32);
    for (int i = 0; i < 16; ++i)
      s.row[i] = i < lines
                     ? _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(inside, from + i * stride))
                     : _mm512_setzero_ps();
    return s;
  }
  // Up to 32 lines of up to 32 numbers as two squares, one behind the other, of 16 numbers of each
  // line; a word holds those of lines 2 i and 2 i + 1. Whole lines, lest a line of memory is
  // fetched twice where the extents are powers of two.
  PHYLLO_INLINE static void store_pairs(bf16 const* from, long stride, int lines, int count,
                                        bf16* to) {
    __mmask32 const inside = extent(count, 32);
    // So that interleaving the lower halves of 16 bytes gives the first 16 numbers in order.
    __m512i const order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    auto const line = [&](int i) {
      return i < lines ? _mm512_permutexvar_epi64(
                             order, _mm512_maskz_loadu_epi16(inside, from + i * stride))
                       : _mm512_setzero_si512();
    };
    for (int i = 0; i < 16; ++i) {
      __m512i const even = line(2 * i), odd = line(2 * i + 1);
      _mm512_store_si512(to + i * AmxTiles::depth, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(to + tile + i * AmxTiles::depth, _mm512_unpackhi_epi16(even, odd));
    }
  }
  PHYLLO_INLINE static Square loaded(bf16 const* from) {
    Square s;
    for (int i = 0; i < 16; ++i) s.row[i] = _mm512_load_ps(from + i * AmxTiles::depth);
    return s;
  }
  PHYLLO_INLINE static void store(Square const& s, bf16* to) {
    for (int i = 0; i < 16; ++i) _mm512_store_ps(to + i * AmxTiles::depth, s.row[i]);
  }
};

}  // namespace phyllo::openmp

#endif

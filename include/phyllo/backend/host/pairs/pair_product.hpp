// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/pairs/pair_instruction.hpp>

#if defined(PHYLLO_HAS_PAIRS)

#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/gemm/packed_left.hpp>
#include <phyllo/backend/host/gemm/taps_operand.hpp>
#include <phyllo/backend/host/gemm/window_operand.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>
#include <phyllo/core/bf16.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The innermost part of a matrix product of bfloat16 by products of pairs.
///
/// shape    a panel of the left operand (depth / 32, 2, 16 rows, 32 depths), of the right one
///          (depth / 32, 2, 16 pairs of depths, 16 columns, 2)
/// options  Instruction: AmxPairs or DotPairs
/// numerics those of Instruction, in rising order of the depth
/// source   Intel 64 and IA-32 Architectures Optimization Reference Manual, ch. 20
template <class Instruction, class LeftOperand> struct PairProduct {
  using Packed = bf16;
  using Sum = float;
  using Left = LeftOperand;
  static constexpr int rows = 2 * PairPacking::rows;
  static constexpr int columns = 2 * PairPacking::columns;
  static constexpr int strip = 256;  // 16 KiB of each operand
  static constexpr int strips = 4;
  static constexpr int depth = strip * strips;
  static constexpr int group = 4;
  static constexpr int together = 4;  // 256 bytes of a line of memory
  static constexpr int block_rows = 384;
  static constexpr int block_columns = 512;
  static constexpr int tile = PairPacking::tile;
  static constexpr int step = 2 * tile;  // of a strip, for 32 depths
  static constexpr long left_strip = long(rows) * strip;
  static constexpr long right_strip = long(columns) * strip;

  using Session = typename Instruction::Session;
  using LeftPart = PackedLeft<PairProduct>;

  static void pack_left(MatrixOperand<bf16, true> const& from, long row, int count, long k,
                        int deep, bf16* to, long panel_size) {
    // Some lines of memory of each row, for the hardware to foresee.
    for (int r = 0; r < count; r += PairPacking::rows)
      for (int i = 0; i < deep; i += PairPacking::depth)
        store(rows_of(from.at(row + r, k + i), from.stride, count - r, deep - i),
              to + place(r, i, panel_size));
  }
  static void pack_left(MatrixOperand<bf16, false> const& from, long row, int count, long k,
                        int deep, bf16* to, long panel_size) {
    for (int i = 0; i < deep; i += PairPacking::depth)
      pack_columns(from.at(row, k + i), from.stride, count, deep - i, i, to, panel_size);
  }
  // Lines of a window are put side by side in the first-level cache.
  static void pack_left(WindowOperand<bf16, true> const& from, long row, int count, long k,
                        int deep, bf16* to, long panel_size) {
    constexpr int length = strip + PairPacking::depth;
    bf16 lines[PairPacking::rows * length];
    typename WindowOperand<bf16, true>::Lines next(from, row, k, deep);
    for (int r = 0; r < count; r += PairPacking::rows) {
      for (int l = 0; l < PairPacking::rows && r + l < count; ++l)
        next.copy_next(lines + l * length);
      for (int i = 0; i < deep; i += PairPacking::depth)
        store(rows_of(lines + i, length, count - r, deep - i), to + place(r, i, panel_size));
    }
  }
  static void pack_left(WindowOperand<bf16, false> const& from, long row, int count, long k,
                        int deep, bf16* to, long panel_size) {
    constexpr int length = block_rows + PairPacking::depth;
    bf16 lines[PairPacking::depth * length];
    typename WindowOperand<bf16, false>::Lines next(from, k, row, count);
    for (int i = 0; i < deep; i += PairPacking::depth) {
      for (int l = 0; l < PairPacking::depth && i + l < deep; ++l)
        next.copy_next(lines + l * length);
      pack_columns(lines, length, count, deep - i, i, to, panel_size);
    }
  }

  template <class Right>
  static void pack_right(Right const& from, long k, int deep, long column, int count, bf16* to,
                         long panel_size) {
    for (int i = 0; i < deep; i += PairPacking::depth)
      if constexpr (Right::by_rows)
        for (int c = 0; c < count; c += columns)
          store_pairs(from.at(k + i, column + c), from.stride, deep - i, count - c,
                      to + place(c, i, panel_size));
      else
        for (int c = 0; c < count; c += PairPacking::columns)
          store(rows_of(from.at(k + i, column + c), from.stride, count - c, deep - i).transposed(),
                to + place(c, i, panel_size));
  }

  static void pack_right(TapsOperand<bf16> const& from, long k, int deep, long column, int count,
                         bf16* to, long panel_size) {
    for (int i = 0; i < deep; i += PairPacking::depth) {
      int const tap = int((k + i) / from.outputs), o = int((k + i) % from.outputs);
      int const some = deep - i < PairPacking::depth ? deep - i : PairPacking::depth;
      for (int c = 0; c < count; c += PairPacking::columns) {
        bf16* const at = to + place(c, i, panel_size);
        if (o + some <= from.outputs)
          store(
              rows_of(from.tap(tap).at(o, column + c), from.outputs, count - c, some).transposed(),
              at);
        else
          store(across_taps(from, k + i, some, column + c, count - c).transposed(), at);
      }
    }
  }

  static void add_columns(bf16 const* right, int deep, int, float* sums) {
    __m512 sum[2] = {_mm512_loadu_ps(sums), _mm512_loadu_ps(sums + PairPacking::columns)};
    for (int i = 0; i < deep; i += PairPacking::depth)
      for (int t = 0; t < 2; ++t, right += tile)
        for (int p = 0; p < PairPacking::depth / 2; ++p) {  // beyond the depth stand zeros
          __m512i const pair = _mm512_load_si512(right + p * PairPacking::depth);
          sum[t] = _mm512_add_ps(sum[t], _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16)));
          sum[t] = _mm512_add_ps(sum[t], _mm512_castsi512_ps(_mm512_and_si512(
                                             pair, _mm512_set1_epi32(int(0xffff0000u)))));
        }
    _mm512_storeu_ps(sums, sum[0]);
    _mm512_storeu_ps(sums + PairPacking::columns, sum[1]);
  }

  static void multiply(int count, int, int deep, bf16 const* left, bf16 const* right, float* sums,
                       float const* first, bool fresh) {
    Instruction::multiply_panel(count, (deep + PairPacking::depth - 1) / PairPacking::depth, left,
                                right, sums, first, fresh);
  }

 private:
  using Square = VectorSquare<float>;  // bits only

  // Where the matrix register of line n (a row or column) and depth i stands in a strip.
  static long place(int n, int i, long panel_size) {
    static_assert(rows == columns, "panels of both operands are alike");
    return n / rows * panel_size + i / PairPacking::depth * step +
           n % rows / PairPacking::rows * tile;
  }

  static __mmask32 extent(int count, int most) {
    if (count >= most) return __mmask32(0xffffffffu >> (32 - most));
    return count <= 0 ? __mmask32(0) : __mmask32((1u << count) - 1u);
  }

  // Up to 16 lines of up to 32 numbers; zeros beyond.
  PHYLLO_INLINE_ON_HOST static Square rows_of(bf16 const* from, long stride, int lines, int count) {
    Square s;
    __mmask32 const inside = extent(count, 32);
    for (int i = 0; i < 16; ++i)
      s.row[i] = i < lines
                     ? _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(inside, from + i * stride))
                     : _mm512_setzero_ps();
    return s;
  }
  // Depths [k, k + deep) of up to 16 columns, of several taps.
  static Square across_taps(TapsOperand<bf16> const& from, long k, int deep, long column,
                            int count) {
    bf16 lines[PairPacking::columns * PairPacking::depth];
    for (int i = 0; i < deep; ++i)
      for (int c = 0; c < PairPacking::columns && c < count; ++c)
        lines[c * PairPacking::depth + i] =
            *from.tap(int((k + i) / from.outputs)).at((k + i) % from.outputs, column + c);
    return rows_of(lines, PairPacking::depth, count, deep);
  }
  // Up to 32 depths, `from` the first of `count` rows each, which stand side by side.
  static void pack_columns(bf16 const* from, long stride, int count, int deep, int i, bf16* to,
                           long panel_size) {
    for (int r = 0; r < count; r += rows) {
      bf16* const at = to + place(r, i, panel_size);
      store_pairs(from + r, stride, deep, count - r, at);
      store(loaded(at).transposed(), at);
      store(loaded(at + tile).transposed(), at + tile);
    }
  }
  // Up to 32 lines of up to 32 numbers as two squares, one behind the other, of 16 numbers of each
  // line; a word holds those of lines 2 i and 2 i + 1. Whole lines, so that no line of memory is
  // fetched twice where the extents are powers of two.
  PHYLLO_INLINE_ON_HOST static void store_pairs(bf16 const* from, long stride, int lines, int count,
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
      _mm512_store_si512(to + i * PairPacking::depth, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(to + tile + i * PairPacking::depth, _mm512_unpackhi_epi16(even, odd));
    }
  }
  PHYLLO_INLINE_ON_HOST static Square loaded(bf16 const* from) {
    Square s;
    for (int i = 0; i < 16; ++i) s.row[i] = _mm512_load_ps(from + i * PairPacking::depth);
    return s;
  }
  PHYLLO_INLINE_ON_HOST static void store(Square const& s, bf16* to) {
    for (int i = 0; i < 16; ++i) _mm512_store_ps(to + i * PairPacking::depth, s.row[i]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif

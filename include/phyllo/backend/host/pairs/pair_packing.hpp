// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Products of pairs of bfloat16: vdpbf16ps, and the roundings and shuffles that feed it.
#if defined(__AVX512BF16__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define PHYLLO_HAS_PAIRS

#include <phyllo/backend/host/simd/vector_square.hpp>
#include <phyllo/core/bf16.hpp>

#include <immintrin.h>

namespace phyllo::inline PHYLLO_ISA::host {

/// Operands of products of bfloat16 as tiles of one kibibyte: of the left one 16 rows of 32 depths,
/// of the right one 16 pairs of depths, each of 16 columns. A tile fills a matrix register, a pair
/// of depths a vector.
///
/// shape    a matrix of tiles: columns (of the right operand) or rows (of the left) first, then
///          depths; beyond the extents stand zeros
struct PairPacking {
  static constexpr int rows = 16;
  static constexpr int columns = 16;
  static constexpr int depth = 32;
  static constexpr int tile = rows * depth;
  static constexpr int up_to(int count, int size) { return (count + size - 1) / size; }

  /// Right operand (inputs, outputs) from rows of the same.
  static void pack(bf16 const* weight, int inputs, int outputs, bf16* to) {
    for (int o = 0; o < outputs; o += columns) {
      __mmask16 const inside = lanes_of(outputs - o);
      int const pairs = up_to(inputs, depth) * depth / 2;
      for (int p = 0; p < pairs; ++p, to += depth)
        _mm512_store_si512(to, paired(row(weight, inputs, outputs, 2 * p, o, inside),
                                      row(weight, inputs, outputs, 2 * p + 1, o, inside)));
    }
  }

  /// Right operand (outputs, inputs) from rows (inputs, outputs): pairs of outputs are words there.
  static void pack_transposed(bf16 const* weight, int inputs, int outputs, bf16* to) {
    for (int i = 0; i < inputs; i += columns)
      for (int o = 0; o < outputs; o += depth, to += tile) {
        __mmask32 const inside = outputs - o >= depth ? 0xffffffffu : (1u << (outputs - o)) - 1u;
        VectorSquare<float> words;  // bits only
        for (int r = 0; r < columns; ++r)
          words.row[r] = i + r < inputs ? _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(
                                              inside, weight + long(i + r) * outputs + o))
                                        : _mm512_setzero_ps();
        words.transpose();
        for (int p = 0; p < rows; ++p) _mm512_store_ps(to + p * depth, words.row[p]);
      }
  }

  /// `Deep` times 32 samples in rows of `wide` times 16 numbers, summed over: the right operand,
  /// or transposed the left.
  template <int Deep>
  static void pack_samples(bf16 const* samples, int stride, int wide, bf16* to, bool transposed) {
    for (int c = 0; c < wide; ++c)
      for (int k = 0; k < Deep; ++k, to += tile) {
        bf16 const* const from = samples + long(k) * depth * stride + c * columns;
        VectorSquare<float> words;
        for (int p = 0; p < rows; ++p)
          words.row[p] = _mm512_castsi512_ps(paired(widened(from + long(2 * p) * stride),
                                                    widened(from + long(2 * p + 1) * stride)));
        if (transposed) words.transpose();
        for (int p = 0; p < rows; ++p) _mm512_store_ps(to + p * depth, words.row[p]);
      }
  }

 private:
  static __mmask16 lanes_of(int count) {
    return __mmask16(count >= columns ? 0xffffu : (1u << count) - 1u);
  }
  static __m512i row(bf16 const* weight, int inputs, int outputs, int i, int o, __mmask16 inside) {
    if (i >= inputs) return _mm512_setzero_si512();
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(inside, weight + long(i) * outputs + o));
  }
  static __m512i widened(bf16 const* from) {
    return _mm512_cvtepu16_epi32(_mm256_load_si256(reinterpret_cast<__m256i const*>(from)));
  }
  static __m512i paired(__m512i first, __m512i second) {
    return _mm512_or_si512(first, _mm512_slli_epi32(second, 16));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/amx.hpp>

#if defined(PHYLLO_HAS_AMX)

#include <phyllo/backend/openmp/kernels.hpp>
#include <phyllo/backend/openmp/tile_prefetch.hpp>
#include <phyllo/backend/openmp/tile_transfer.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment.hpp>

#include <cstring>
#include <utility>

namespace phyllo::openmp {

/// Inference of a segment in bfloat16 by matrix registers: 48 samples by 16 outputs at a time.
///
/// numerics products of pairs are added in float, 32 inputs at a time; subnormal numbers count as
///          zeros; every layer's result is rounded to bfloat16
/// cost     packs the weights once a piece of the batch
template <class Segment, class P> class AmxSegment;
template <class... D, class P> class AmxSegment<op::Segment<D...>, P> {
  using Work = typename op::Segment<D...>::template Forward<P>;
  static constexpr int layers = sizeof...(D);
  static constexpr int inputs[] = {D::inputs...};
  static constexpr int outputs[] = {D::outputs...};
  static constexpr int panels(int count, int width) { return (count + width - 1) / width; }
  static constexpr int depths(int l) { return panels(inputs[l], AmxTiles::depth); }
  static constexpr int widths(int l) { return panels(outputs[l], AmxTiles::columns); }
  static constexpr int tile_size = AmxTiles::rows * AmxTiles::depth;  // of weights, 1 KiB
  static constexpr int groups = tile_rows / AmxTiles::rows;
  static_assert(groups == 3, "three matrix registers hold the sums of a tile's samples");

  static constexpr int stride = [] {  // of a row of values, of every layer alike
    int widest = 0;
    for (int l = 0; l < layers; ++l) {
      int const in = depths(l) * AmxTiles::depth;
      int const out = panels(outputs[l], AmxTiles::depth) * AmxTiles::depth;
      widest = in > widest ? in : widest;
      widest = out > widest ? out : widest;
    }
    return widest;
  }();
  static constexpr int weight_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += depths(i) * widths(i) * tile_size;
    return sum;
  }
  static constexpr int bias_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += widths(i) * AmxTiles::columns;
    return sum;
  }

 public:
  explicit AmxSegment(Work const& work) : work_(work) {
    std::memset(static_cast<void*>(bias_), 0, sizeof(bias_));
    std::memset(static_cast<void*>(value_), 0, sizeof(value_));
    for (int l = 0; l < layers; ++l) pack(l);
  }

  /// Samples [first, last) of the caller's tensors.
  void run(ExternalTensor const& source, ExternalTensor const& target, long first, long last) {
    for (long n = first; n < last; n += tile_rows) {
      int const rows = int(last - n < tile_rows ? last - n : tile_rows);
      TileTransfer<float>::load(source, n, rows, inputs[0], line_, stride);
      // Beyond the extent stand zeros, lest an infinity of another layer meets the zeros there.
      constexpr int padded = depths(0) * AmxTiles::depth;
      for (int r = 0; r < rows; ++r) {
        bf16* const row = value_[0] + r * stride;
        for (int c = 0; c < inputs[0]; ++c) row[c] = bf16(line_[r * stride + c]);
        for (int c = inputs[0]; c < padded; ++c) row[c] = bf16(0.0f);
      }
      long const left = last - n - rows;
      constexpr int calls = (widths_before(layers) > 0 ? widths_before(layers) : 1);
      TilePrefetch<false> read(source, n + rows, left < tile_rows ? left : tile_rows, inputs[0],
                               calls);
      TilePrefetch<true> written(target, n, rows, outputs[layers - 1], calls);
      auto const between = [&] {
        read();
        written();
      };
      all(int(n), between, std::index_sequence_for<D...>{});
      TileTransfer<float>::store(line_, stride, n, rows, outputs[layers - 1], target);
    }
  }

 private:
  static constexpr int widths_before(int l) { return bias_at(l) / AmxTiles::columns; }

  // Matrix registers want the rows of two inputs side by side: (pair, output, 2).
  void pack(int l) {
    bf16 const* const weight = work_.parameters + work_.weight[l];
    bf16* to = weight_ + weight_at(l);
    for (int w = 0; w < widths(l); ++w) {
      int const column = w * AmxTiles::columns, columns = outputs[l] - column;
      auto const in_extent =
          __mmask16(columns >= AmxTiles::columns ? 0xffffu : (1u << columns) - 1u);
      for (int i = 0; i < depths(l) * AmxTiles::depth; i += 2, to += AmxTiles::depth) {
        __m512i const first = widened(weight, l, i, column, in_extent);
        __m512i const second = widened(weight, l, i + 1, column, in_extent);
        _mm512_store_si512(to, _mm512_or_si512(first, _mm512_slli_epi32(second, 16)));
      }
    }
    if (work_.bias[l] >= 0)
      for (int o = 0; o < outputs[l]; ++o)
        bias_[bias_at(l) + o] = float(work_.parameters[work_.bias[l] + o]);
  }

  // 16 weights of input i; zeros beyond the extents.
  static __m512i widened(bf16 const* weight, int l, int i, int column, __mmask16 in_extent) {
    if (i >= inputs[l]) return _mm512_setzero_si512();
    return _mm512_cvtepu16_epi32(
        _mm256_maskz_loadu_epi16(in_extent, weight + long(i) * outputs[l] + column));
  }

  template <class Between, std::size_t... L>
  void all(int n, Between const& between, std::index_sequence<L...>) {
    (layer<D, int(L)>(n, between), ...);
  }

  template <class Dense, int L, class Between> void layer(int n, Between const& between) {
    bf16 const* const x = value_[L % 2];
    for (int w = 0; w < widths(L); ++w) {
      between();
      bf16 const* weight = weight_ + weight_at(L) + w * depths(L) * tile_size;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      for (int d = 0; d < depths(L); ++d, weight += tile_size) {
        bf16 const* const from = x + d * AmxTiles::depth;
        _tile_loadd(6, weight, 64);
        _tile_loadd(3, from, 2 * stride);
        _tile_loadd(4, from + AmxTiles::rows * stride, 2 * stride);
        _tile_loadd(5, from + 2 * AmxTiles::rows * stride, 2 * stride);
        _tile_dpbf16ps(0, 3, 6);
        _tile_dpbf16ps(1, 4, 6);
        _tile_dpbf16ps(2, 5, 6);
      }
      _tile_stored(0, sum_, 64);
      _tile_stored(1, sum_ + 256, 64);
      _tile_stored(2, sum_ + 512, 64);
      finish<Dense, L>(n, w * AmxTiles::columns);
    }
    if constexpr (L + 1 < layers && widths(L) % 2 == 1)
      for (int r = 0; r < tile_rows; ++r)
        std::memset(
            static_cast<void*>(value_[(L + 1) % 2] + r * stride + widths(L) * AmxTiles::columns), 0,
            sizeof(bf16) * AmxTiles::columns);
  }

  // Bias and chain of 16 outputs of all samples; into the next layer's input, or the result.
  template <class Dense, int L> void finish(int n, int column) {
    using Chain = typename Dense::chain;
    Randomness random = work_.random;
    random.position += work_.position[L];
    // Columns beyond the extent are zeros, also where an infinity met a weight of zero there.
    int const columns = Dense::outputs - column;
    auto const in_extent = __mmask16(columns >= AmxTiles::columns ? 0xffffu : (1u << columns) - 1u);
    __m512 const bias = _mm512_load_ps(bias_ + bias_at(L) + column);
    for (int r = 0; r < tile_rows; ++r) {
      float* const row = sum_ + r * AmxTiles::columns;
      _mm512_store_ps(row, _mm512_add_ps(_mm512_load_ps(row), bias));
    }
    if constexpr (Chain::random)
      for (int r = 0; r < tile_rows; ++r)
        for (int c = 0; c < AmxTiles::columns; ++c)
          sum_[r * AmxTiles::columns + c] =
              Chain::value(sum_[r * AmxTiles::columns + c], random.element(n + r, column + c));
    else if constexpr (Chain::length > 0) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < tile_rows * AmxTiles::columns; ++i)
        sum_[i] = Chain::value(sum_[i], Element{});
    }
    for (int r = 0; r < tile_rows; ++r) {
      auto const rounded = _mm256_maskz_mov_epi16(
          in_extent, (__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(sum_ + r * AmxTiles::columns)));
      if constexpr (L + 1 < layers)
        _mm256_store_si256(reinterpret_cast<__m256i*>(value_[(L + 1) % 2] + r * stride + column),
                           rounded);
      else
        _mm512_store_ps(line_ + r * stride + column,
                        _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(rounded), 16)));
    }
  }

  Work const& work_;
  AmxTiles tiles_;
  alignas(64) bf16 weight_[weight_at(layers)];
  alignas(64) float bias_[bias_at(layers)];
  alignas(64) bf16 value_[2][tile_rows * stride];  // rows of samples; beyond the extent zeros
  alignas(64) float sum_[tile_rows * AmxTiles::columns];
  alignas(64) float line_[tile_rows * stride];
};

}  // namespace phyllo::openmp

#endif

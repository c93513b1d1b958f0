// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/pairs/pair_instruction.hpp>

#if defined(PHYLLO_HAS_PAIRS)

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/segment/tile_prefetch.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>
#include <phyllo/op/segment.hpp>

#include <cstring>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::host {

/// Inference of a segment in bfloat16 by products of pairs, 48 samples at a time.
///
/// options  Instruction: AmxPairs or DotPairs
/// numerics those of Instruction; every layer's result is rounded to bfloat16
/// cost     packs the weights once a piece of the batch
template <class Instruction, class Segment, class P> class PairSegment;
template <class Instruction, class... D, class P>
class PairSegment<Instruction, op::Segment<D...>, P> {
  using Work = typename op::Segment<D...>::template Forward<P>;
  static constexpr int layers = sizeof...(D);
  static constexpr int inputs[] = {D::inputs...};
  static constexpr int outputs[] = {D::outputs...};
  static constexpr int depths(int l) { return PairPacking::up_to(inputs[l], PairPacking::depth); }
  static constexpr int widths(int l) {
    return PairPacking::up_to(outputs[l], PairPacking::columns);
  }

  static constexpr int stride = [] {  // of a row of values, of every layer alike
    int widest = 0;
    for (int l = 0; l < layers; ++l) {
      int const in = depths(l) * PairPacking::depth;
      int const out = PairPacking::up_to(outputs[l], PairPacking::depth) * PairPacking::depth;
      widest = in > widest ? in : widest;
      widest = out > widest ? out : widest;
    }
    return widest;
  }();
  static constexpr int weight_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += depths(i) * widths(i) * PairPacking::tile;
    return sum;
  }
  static constexpr int bias_at(int l) {
    int sum = 0;
    for (int i = 0; i < l; ++i) sum += widths(i) * PairPacking::columns;
    return sum;
  }

  // What a piece of the batch needs; only the first two begin as zeros.
  struct Memory {
    alignas(64) float bias[bias_at(layers)];
    alignas(64) bf16 value[2][tile_rows * stride];  // rows of samples; beyond the extent zeros
    alignas(64) bf16 weight[weight_at(layers)];
    alignas(64) float sum[Instruction::together * tile_rows * PairPacking::columns];
  };

 public:
  static constexpr long bytes = long(sizeof(Memory));

  PairSegment(Work const& work, std::byte* memory)
      : work_(work), m_(*reinterpret_cast<Memory*>(memory)) {
    std::memset(static_cast<void*>(m_.bias), 0, sizeof(m_.bias));
    std::memset(static_cast<void*>(m_.value), 0, sizeof(m_.value));
    for (int l = 0; l < layers; ++l) {
      PairPacking::pack(work.parameters + work.weight[l], inputs[l], outputs[l],
                        m_.weight + weight_at(l));
      if (work.bias[l] >= 0)
        for (int o = 0; o < outputs[l]; ++o)
          m_.bias[bias_at(l) + o] = float(work.parameters[work.bias[l] + o]);
    }
  }

  /// Samples [first, last) of the caller's tensors.
  void run(ExternalTensor const& source, ExternalTensor const& target, long first, long last) {
    for (long n = first; n < last; n += tile_rows) {
      int const rows = int(last - n < tile_rows ? last - n : tile_rows);
      TileTransfer<bf16>::load(source, n, rows, inputs[0], m_.value[0], stride);
      // Zeros beyond the extent: an infinity of another layer times the zeros there would be a NaN.
      constexpr int padding = depths(0) * PairPacking::depth - inputs[0];
      if constexpr (padding > 0)
        for (int r = 0; r < rows; ++r)
          std::memset(static_cast<void*>(m_.value[0] + r * stride + inputs[0]), 0,
                      sizeof(bf16) * padding);
      long const left = last - n - rows;
      constexpr int calls = (widths_before(layers) > 0 ? widths_before(layers) : 1);
      TilePrefetch<false> read(source, n + rows, left < tile_rows ? left : tile_rows, inputs[0],
                               calls);
      TilePrefetch<true> written(target, n, rows, outputs[layers - 1], calls);
      auto const between = [&] {
        read();
        written();
      };
      all(rows, int(n), between, std::index_sequence_for<D...>{});
      TileTransfer<bf16>::store(m_.value[layers % 2], stride, n, rows, outputs[layers - 1], target);
    }
  }

 private:
  static constexpr int widths_before(int l) { return bias_at(l) / PairPacking::columns; }

  template <class Between, std::size_t... L>
  void all(int rows, int n, Between const& between, std::index_sequence<L...>) {
    (layer<D, int(L)>(rows, n, between), ...);
  }

  template <class Dense, int L, class Between> void layer(int rows, int n, Between const& between) {
    bf16 const* const x = m_.value[L % 2];
    for (int w = 0; w < widths(L); w += Instruction::together) {
      int const panels =
          widths(L) - w < Instruction::together ? widths(L) - w : Instruction::together;
      Instruction::template multiply<tile_rows>(
          rows, x, stride, m_.weight + weight_at(L) + w * depths(L) * PairPacking::tile, depths(L),
          panels, m_.sum);
      for (int p = 0; p < panels; ++p) {
        between();
        finish<Dense, L>(rows, n, (w + p) * PairPacking::columns,
                         m_.sum + p * tile_rows * PairPacking::columns);
      }
    }
    if constexpr (L + 1 < layers && widths(L) % 2 == 1)
      for (int r = 0; r < tile_rows; ++r)
        std::memset(static_cast<void*>(m_.value[(L + 1) % 2] + r * stride +
                                       widths(L) * PairPacking::columns),
                    0, sizeof(bf16) * PairPacking::columns);
  }

  // Bias and chain of 16 outputs of all samples; into the next layer's input.
  template <class Dense, int L> void finish(int rows, int n, int column, float const* sum) {
    using Chain = typename Dense::chain;
    Randomness random = work_.random;
    random.position += work_.position[L];
    // Columns beyond the extent are zeros, also where an infinity met a weight of zero there.
    int const columns = Dense::outputs - column;
    auto const in_extent =
        __mmask16(columns >= PairPacking::columns ? 0xffffu : (1u << columns) - 1u);
    __m512 const bias = _mm512_load_ps(m_.bias + bias_at(L) + column);
    for (int r = 0; r < rows; ++r) {
      alignas(64) float row[PairPacking::columns];
      _mm512_store_ps(row, _mm512_add_ps(_mm512_load_ps(sum + r * PairPacking::columns), bias));
      if constexpr (Chain::random) {
        for (int c = 0; c < PairPacking::columns; ++c)
          row[c] = Chain::value(row[c], random.element(n + r, column + c));
      } else if constexpr (Chain::length > 0) {
        PHYLLO_SIMD(16)
        for (int c = 0; c < PairPacking::columns; ++c) row[c] = Chain::value(row[c], Element{});
      }
      auto rounded = (__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(row));
      if constexpr (Dense::outputs % PairPacking::columns != 0)
        rounded = _mm256_maskz_mov_epi16(in_extent, rounded);
      _mm256_store_si256(reinterpret_cast<__m256i*>(m_.value[(L + 1) % 2] + r * stride + column),
                         rounded);
    }
  }

  Work const& work_;
  Memory& m_;
  typename Instruction::Session session_;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif

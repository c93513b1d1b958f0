// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::detail {

/// A contraction for several cells at once, their sums in vector registers.
///
/// options  Step: InKernelCellStep, which says where the values are
template <class Step> struct CellContraction {
  using Facts = typename Step::Facts;
  using T = typename Step::T;
  using V = typename Step::V;
  using storage = typename Step::storage;
  static constexpr int N = Step::cells;
  static constexpr int lanes = Step::lanes;
  static constexpr int C = Step::C;
  static constexpr int O = Step::O;
  // Outputs whose sums are in registers at once, in blocks of nearly the same size; no more than
  // PHYLLO_UNROLL unrolls, since the sums of a loop that is left are in memory.
  static constexpr int most = PHYLLO_VECTOR_REGISTERS >= 32 ? 16 : 12;
  static constexpr int blocks = (O * (N / lanes) + most - 1) / most;
  static constexpr int block = (O + blocks - 1) / blocks;

  static void run(Step const& step) {
    constexpr int whole = O / block * block;
    for (int o = 0; o < whole; o += block) contract<block>(step, o);
    if constexpr (whole < O) contract<O - whole>(step, whole);
  }

 private:
  template <int Count> PHYLLO_WHOLE_VECTORS static void contract(Step const& step, int first) {
    constexpr int vectors = N / lanes;
    V sum[Count][vectors];
    PHYLLO_UNROLL
    for (int o = 0; o < Count; ++o) {
      T begin = T(0);
      if constexpr (Facts::bias >= 0) begin = T(step.parameters[Facts::bias + first + o]);
      PHYLLO_UNROLL
      for (int v = 0; v < vectors; ++v) sum[o][v] = begin - V{};  // no operation: x - 0 is x
    }
    // Weights of 16 bits are widened side by side before each is given to all lanes.
    constexpr bool widens = !std::is_same_v<storage, T>;
    alignas(64) T widened[widens ? C * Count : 1];
    if constexpr (widens)
      for (int c = 0; c < C; ++c) {
        PHYLLO_SIMD(16)
        for (int o = 0; o < Count; ++o)
          widened[c * Count + o] = T(step.parameters[Facts::weight + c * O + first + o]);
      }
    T const* x = step.template source<0>();
    for (int c = 0; c < C; ++c, x += N) {
      // Weight by weight: kept for several vectors they would take the registers of the sums.
      V xc[vectors];
      PHYLLO_UNROLL
      for (int v = 0; v < vectors; ++v) xc[v] = *reinterpret_cast<V const*>(x + v * lanes);
      PHYLLO_UNROLL
      for (int o = 0; o < Count; ++o) {
        T w;
        if constexpr (widens)
          w = widened[c * Count + o];
        else
          w = step.parameters[Facts::weight + c * O + first + o];
        PHYLLO_UNROLL
        for (int v = 0; v < vectors; ++v) sum[o][v] += xc[v] * w;
      }
    }
    T* const y = step.result() + first * N;
    PHYLLO_UNROLL
    for (int o = 0; o < Count; ++o) {
      PHYLLO_UNROLL
      for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(y + o * N + v * lanes) = sum[o][v];
    }
    if constexpr (Facts::folds)
      for (int o = 0; o < Count; ++o) step.normalize(y + o * N, first + o);
    step.finish(first, Count);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

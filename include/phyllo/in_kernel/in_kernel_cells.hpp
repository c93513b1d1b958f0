// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/lane_vector.hpp>
#include <phyllo/in_kernel/in_kernel_step.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::detail {

/// Step S of a plan for N cells at once, of a network whose values have no positions.
///
/// shape    arena: values as Planned::memory places them, each (C, N)
/// numerics as InKernelStep, whatever the cell's place among the N
template <class Planned, class Precision, int S, int N> struct InKernelCellStep {
  using storage = typename Precision::storage;
  using T = typename Precision::accumulate;
  using Facts = StepFacts<Planned, S>;
  using Chain = StepChain<Planned, S>;
  using V = typename LaneVector<T>::type;
  static constexpr int lanes = LaneVector<T>::lanes;
  static constexpr int C = Facts::in_channels;
  static constexpr int O = Facts::out_channels;
  // Outputs whose sums are in registers at once, in blocks of nearly the same size.
  static constexpr int most = PHYLLO_VECTOR_REGISTERS >= 32 ? 24 : 12;
  static constexpr int blocks = (O * (N / lanes) + most - 1) / most;
  static constexpr int block = (O + blocks - 1) / blocks;

  storage const* parameters;
  float const* buffers;
  T* arena;

  void operator()() const {
    if constexpr (Facts::role == Role::contraction) {
      contraction();
    } else if constexpr (Facts::role == Role::softmax) {
      softmax();
    } else {
      for (int c = 0; c < O; ++c) {
        T* const y = result() + c * N;
        if constexpr (Facts::role == Role::concatenation) {
          T const* const x = concatenated<0>(c);
          for (int i = 0; i < N; ++i) y[i] = x[i];
        } else if constexpr (Facts::role == Role::add) {
          PHYLLO_SIMD(16)
          for (int i = 0; i < N; ++i) y[i] = source<0>()[c * N + i] + source<1>()[c * N + i];
        } else {
          for (int i = 0; i < N; ++i) y[i] = source<0>()[c * N + i];
          if constexpr (Facts::role == Role::normalization) normalize(y, c);
        }
      }
      finish(0, O);
    }
  }

 private:
  template <int Value> static constexpr int place = N * value_place<Planned, Value, int(sizeof(T))>;
  template <int I> T const* source() const { return arena + place<Facts::template source<I>>; }
  T* result() const { return arena + place<Facts::result>; }

  void contraction() const {
    constexpr int whole = O / block * block;
    for (int o = 0; o < whole; o += block) contract<block>(o);
    if constexpr (whole < O) contract<O - whole>(whole);
  }
  template <int Count> PHYLLO_WHOLE_VECTORS void contract(int first) const {
    constexpr int vectors = N / lanes;
    V sum[Count][vectors];
    PHYLLO_UNROLL
    for (int o = 0; o < Count; ++o) {
      T begin = T(0);
      if constexpr (Facts::bias >= 0) begin = T(parameters[Facts::bias + first + o]);
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
          widened[c * Count + o] = T(parameters[Facts::weight + c * O + first + o]);
      }
    T const* x = source<0>();
    for (int c = 0; c < C; ++c, x += N) {
      PHYLLO_UNROLL
      for (int v = 0; v < vectors; ++v) {
        V const xc = *reinterpret_cast<V const*>(x + v * lanes);
        PHYLLO_UNROLL
        for (int o = 0; o < Count; ++o)
          if constexpr (widens)
            sum[o][v] += xc * widened[c * Count + o];
          else
            sum[o][v] += xc * parameters[Facts::weight + c * O + first + o];
      }
    }
    T* const y = result() + first * N;
    PHYLLO_UNROLL
    for (int o = 0; o < Count; ++o) {
      PHYLLO_UNROLL
      for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(y + o * N + v * lanes) = sum[o][v];
    }
    if constexpr (Facts::folds)
      for (int o = 0; o < Count; ++o) normalize(y + o * N, first + o);
    finish(first, Count);
  }

  void normalize(T* y, int c) const {
    T const mean = T(buffers[Facts::norm_buffer + c]);
    T const variance = T(buffers[Facts::norm_buffer + O + c]);
    T const inverse = T(1) / Kokkos::sqrt(variance + T(Facts::epsilon));
    T const factor = inverse * T(parameters[Facts::norm_weight + c]);
    T const shift = T(parameters[Facts::norm_bias + c]);
    PHYLLO_SIMD(16)
    for (int i = 0; i < N; ++i) y[i] = (y[i] - mean) * factor + shift;
  }

  void softmax() const {
    for (int i = 0; i < N; ++i) {
      T const* const x = source<0>() + i;
      T* const y = result() + i;
      T largest = x[0], sum = T(0);
      for (int c = 1; c < C; ++c) largest = x[c * N] > largest ? x[c * N] : largest;
      for (int c = 0; c < C; ++c) sum += decay(x[c * N] - largest);
      T const share = T(1) / sum;
      for (int c = 0; c < C; ++c) y[c * N] = T(storage(decay(x[c * N] - largest) * share));
    }
  }

  // Chain and rounding of the results [first, first + count). Random functions are the identity.
  //
  // One loop over all cells of all results: Clang unrolls a loop over N, and then makes vectors of
  // results, which are N apart.
  void finish(int first, int count) const {
    T* const y = result() + first * N;
    PHYLLO_SIMD(16)
    for (int i = 0; i < count * N; ++i) {
      Element const e{
          0, 0, 0, std::uint32_t(Facts::chain_position), std::uint32_t(first + i / N), false};
      y[i] = T(storage(Chain::value(y[i], e)));
    }
  }

  template <int I> T const* concatenated(int c) const {
    constexpr int channels = Facts::template source_channels<I>;
    if constexpr (I + 1 < Facts::sources)
      if (c >= channels) return concatenated<I + 1>(c - channels);
    return source<I>() + c * N;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/lane_vector.hpp>
#include <phyllo/in_kernel/in_kernel_step.hpp>

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
  using Leaf = typename Planned::template Leaf<S>;
  using V = typename LaneVector<T>::type;
  static constexpr int lanes = LaneVector<T>::lanes;
  static constexpr int C = Facts::in_channels;
  static constexpr int O = Facts::out_channels;
  static constexpr int cells = N;

  storage const* parameters;
  float const* buffers;
  T* arena;

  void operator()() const {
    if constexpr (requires { Kind<Facts::role>::in_cells(*this); }) {
      Kind<Facts::role>::in_cells(*this);
    } else {
      // On one position with one tap nothing is left but the chain.
      for (int c = 0; c < O; ++c) copy(source<0>() + c * N, c);
      finish(0, O);
    }
  }

  template <int I> T const* source() const { return arena + place<Facts::template source<I>>; }
  T* result() const { return arena + place<Facts::result>; }
  /// One number of all cells, (N), as channel c of the result.
  void copy(T const* x, int c) const {
    T* const y = result() + c * N;
    for (int i = 0; i < N; ++i) y[i] = x[i];
  }

  void normalize(T* y, int c) const {
    T const mean = T(buffers[Facts::norm_buffer + c]);
    T const variance = T(buffers[Facts::norm_buffer + O + c]);
    T const inverse = T(1) / Kokkos::sqrt(variance + T(Facts::epsilon));
    T factor = inverse, shift = 0;
    if constexpr (Facts::norm_weight >= 0) {
      factor *= T(parameters[Facts::norm_weight + c]);
      shift = T(parameters[Facts::norm_bias + c]);
    }
    PHYLLO_SIMD(16)
    for (int i = 0; i < N; ++i) y[i] = (y[i] - mean) * factor + shift;
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

 private:
  template <int Value> static constexpr int place = N * value_place<Planned, Value, int(sizeof(T))>;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a layer over rows normalises them: it says whether it subtracts the mean.
template <class Layer> inline constexpr bool normalizes = requires { Layer::centered; };

namespace detail {

/// The numbers of a row inside a kernel.
///
/// options  Step: InKernelStep, which says where the values are
template <class Step> struct InKernelRow {
  using T = typename Step::T;
  static constexpr int C = Step::C;

  PHYLLO_FUNCTION static void softmax(Step const& step, int row) {
    auto const* const x = step.template source<0>() + row * C;
    T largest = T(x[0]);
    for (int c = 1; c < C; ++c) largest = T(x[c]) > largest ? T(x[c]) : largest;
    T sum = T(0);
    for (int c = 0; c < C; ++c) sum += decay(T(x[c]) - largest);
    T const share = T(1) / sum;
    for (int c = 0; c < C; ++c) step.write_raw(row * C + c, decay(T(x[c]) - largest) * share);
  }

  PHYLLO_FUNCTION static void normalize(Step const& step, int row) {
    using Facts = typename Step::Facts;
    auto const* const x = step.template source<0>() + row * C;
    T mean = T(0), squares = T(0);
    if constexpr (Step::Leaf::centered) {
      for (int c = 0; c < C; ++c) mean += T(x[c]);
      mean /= T(C);
    }
    for (int c = 0; c < C; ++c) squares += (T(x[c]) - mean) * (T(x[c]) - mean);
    T const inverse = T(1) / Kokkos::sqrt(squares / T(C) + T(Facts::epsilon));
    for (int c = 0; c < C; ++c) {
      T z = (T(x[c]) - mean) * inverse;
      if constexpr (Facts::weight >= 0) z *= T(step.parameters[Facts::weight + c]);
      if constexpr (Facts::bias >= 0) z += T(step.parameters[Facts::bias + c]);
      step.write(row * C + c, z);
    }
  }
};

/// The same for several cells at once, one number of all cells after the other.
///
/// options  Step: InKernelCellStep
template <class Step> struct CellRow {
  using T = typename Step::T;
  static constexpr int C = Step::C, N = Step::cells;

  static void softmax(Step const& step) {
    for (int i = 0; i < N; ++i) {
      T const* const x = step.template source<0>() + i;
      T* const y = step.result() + i;
      T largest = x[0], sum = T(0);
      for (int c = 1; c < C; ++c) largest = x[c * N] > largest ? x[c * N] : largest;
      for (int c = 0; c < C; ++c) sum += decay(x[c * N] - largest);
      T const share = T(1) / sum;
      for (int c = 0; c < C; ++c)
        y[c * N] = T(typename Step::storage(decay(x[c * N] - largest) * share));
    }
  }

  static void normalize(Step const& step) {
    using Facts = typename Step::Facts;
    T mean[N] = {}, inverse[N] = {};
    T const* const x = step.template source<0>();
    if constexpr (Step::Leaf::centered) {
      for (int at = 0; at < C * N; ++at) mean[at % N] += x[at];
      for (int i = 0; i < N; ++i) mean[i] /= T(C);
    }
    for (int at = 0; at < C * N; ++at)
      inverse[at % N] += (x[at] - mean[at % N]) * (x[at] - mean[at % N]);
    for (int i = 0; i < N; ++i)
      inverse[i] = T(1) / Kokkos::sqrt(inverse[i] / T(C) + T(Facts::epsilon));
    for (int c = 0; c < C; ++c) {
      T scale = T(1), shift = T(0);
      if constexpr (Facts::weight >= 0) scale = T(step.parameters[Facts::weight + c]);
      if constexpr (Facts::bias >= 0) shift = T(step.parameters[Facts::bias + c]);
      T* const y = step.result() + c * N;
      for (int i = 0; i < N; ++i) y[i] = (x[c * N + i] - mean[i]) * inverse[i] * scale + shift;
    }
    step.finish(0, C);
  }
};

}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA

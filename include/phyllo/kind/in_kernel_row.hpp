// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/axis.hpp>
#include <phyllo/core/elementary.hpp>
#include <phyllo/kind/node.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a layer over rows normalises them: it says whether it subtracts the mean.
template <class Layer> inline constexpr bool normalizes = requires { Layer::centered; };

/// Whether it normalises groups of channels: it says how many.
template <class Layer>
inline constexpr bool normalizes_groups = requires { Layer::groups_of(Shape{}); };

namespace detail {

// Of a softmax: its axis, and whether its result is the logarithm.
template <class Layer> PHYLLO_FUNCTION constexpr Axis softmax_axis() {
  if constexpr (requires { Layer::axis; })
    return Layer::axis;
  else
    return Axis::channels;
}
template <class Layer> PHYLLO_FUNCTION constexpr bool is_logarithmic() {
  if constexpr (requires { Layer::logarithm; })
    return Layer::logarithm;
  else
    return false;
}

// Whether a normalisation subtracts the mean.
template <class Layer> PHYLLO_FUNCTION constexpr bool centers() {
  if constexpr (normalizes<Layer>)
    return Layer::centered;
  else
    return true;
}
template <class Layer> inline constexpr bool is_centered = centers<Layer>();

// Work items of a layer over rows: positions, groups, or all but the axis of a softmax.
template <class Layer> constexpr int row_items(Node const& n) {
  if constexpr (normalizes_groups<Layer>)
    return Layer::groups_of(n.input);
  else if constexpr (normalizes<Layer>)
    return n.output.positions();
  else
    return n.output.size() / extent(n.output, softmax_axis<Layer>());
}

/// The numbers of a row inside a kernel: the channels of a position, or of a group with all
/// positions.
///
/// options  Step: InKernelStep, which says where the values are
template <class Step> struct InKernelRow {
  using T = typename Step::T;
  static constexpr int C = Step::C;

  PHYLLO_FUNCTION static void softmax(Step const& step, int row) {
    constexpr Axis axis = softmax_axis<typename Step::Leaf>();
    constexpr int count = extent(Step::Facts::head.output, axis);
    constexpr int inner = stride(Step::Facts::head.output, axis);
    int const first = row / inner * count * inner + row % inner;
    auto const* const x = step.template source<0>() + first;
    T largest = T(x[0]);
    for (int i = 1; i < count; ++i) largest = T(x[i * inner]) > largest ? T(x[i * inner]) : largest;
    T sum = T(0);
    for (int i = 0; i < count; ++i) sum += decay(T(x[i * inner]) - largest);
    if constexpr (is_logarithmic<typename Step::Leaf>()) {
      T const shift = logarithm(sum);
      for (int i = 0; i < count; ++i)
        step.write_raw(first + i * inner, T(x[i * inner]) - largest - shift);
    } else {
      T const share = T(1) / sum;
      for (int i = 0; i < count; ++i)
        step.write_raw(first + i * inner, decay(T(x[i * inner]) - largest) * share);
    }
  }

  PHYLLO_FUNCTION static void normalize(Step const& step, int row) {
    using Facts = typename Step::Facts;
    auto const* const x = step.template source<0>();
    constexpr int count = numbers;
    T mean = T(0), squares = T(0);
    if constexpr (is_centered<typename Step::Leaf>) {
      for (int i = 0; i < count; ++i) mean += T(x[at(row, i)]);
      mean /= T(count);
    }
    for (int i = 0; i < count; ++i) {
      T const d = T(x[at(row, i)]) - mean;
      squares += d * d;
    }
    T const inverse = T(1) / Kokkos::sqrt(squares / T(count) + T(Facts::epsilon));
    for (int i = 0; i < count; ++i) {
      int const k = at(row, i);
      T z = (T(x[k]) - mean) * inverse;
      if constexpr (Facts::weight >= 0) z *= T(step.parameters[Facts::weight + k % C]);
      if constexpr (Facts::bias >= 0) z += T(step.parameters[Facts::bias + k % C]);
      step.write(k, z);
    }
  }

 private:
  static constexpr int rows = Step::items;
  static constexpr int width = normalizes_groups<typename Step::Leaf> ? C / rows : C;
  static constexpr int numbers =
      normalizes_groups<typename Step::Leaf> ? width * Step::Facts::out_positions : C;
  PHYLLO_FUNCTION static constexpr int at(int row, int i) {
    if constexpr (normalizes_groups<typename Step::Leaf>)
      return i / width * C + row * width + i % width;
    else
      return row * C + i;
  }
};

/// The same for several cells at once, one number of all cells after the other.
///
/// options  Step: InKernelCellStep
template <class Step> struct CellRow {
  using T = typename Step::T;
  static constexpr int C = Step::C, N = Step::cells;

  // One line of channels, or on one position each channel by itself.
  static void softmax(Step const& step) {
    using storage = typename Step::storage;
    constexpr int count = softmax_axis<typename Step::Leaf>() == Axis::channels ? C : 1;
    for (int first = 0; first < C / count * N; ++first) {
      T const* const x = step.template source<0>() + first;
      T* const y = step.result() + first;
      T largest = x[0], sum = T(0);
      for (int c = 1; c < count; ++c) largest = x[c * N] > largest ? x[c * N] : largest;
      for (int c = 0; c < count; ++c) sum += decay(x[c * N] - largest);
      T const share = T(1) / sum, shift = logarithm(sum);
      for (int c = 0; c < count; ++c)
        y[c * N] =
            T(storage(is_logarithmic<typename Step::Leaf>() ? x[c * N] - largest - shift
                                                            : decay(x[c * N] - largest) * share));
    }
  }

  static void normalize(Step const& step) {
    using Facts = typename Step::Facts;
    constexpr int width = normalizes_groups<typename Step::Leaf>
                              ? C / row_items<typename Step::Leaf>(Facts::head)
                              : C;
    for (int first = 0; first < C; first += width) {
      T mean[N] = {}, inverse[N] = {};
      T const* const x = step.template source<0>() + first * N;
      if constexpr (is_centered<typename Step::Leaf>) {
        for (int at = 0; at < width * N; ++at) mean[at % N] += x[at];
        for (int i = 0; i < N; ++i) mean[i] /= T(width);
      }
      for (int at = 0; at < width * N; ++at)
        inverse[at % N] += (x[at] - mean[at % N]) * (x[at] - mean[at % N]);
      for (int i = 0; i < N; ++i)
        inverse[i] = T(1) / Kokkos::sqrt(inverse[i] / T(width) + T(Facts::epsilon));
      for (int c = 0; c < width; ++c) {
        T scale = T(1), shift = T(0);
        if constexpr (Facts::weight >= 0) scale = T(step.parameters[Facts::weight + first + c]);
        if constexpr (Facts::bias >= 0) shift = T(step.parameters[Facts::bias + first + c]);
        T* const y = step.result() + (first + c) * N;
        for (int i = 0; i < N; ++i) y[i] = (x[c * N + i] - mean[i]) * inverse[i] * scale + shift;
      }
    }
    step.finish(0, C);
  }
};

}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA

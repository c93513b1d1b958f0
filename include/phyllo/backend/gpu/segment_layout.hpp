// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment.hpp>

#include <type_traits>

namespace phyllo::gpu {

/// Where the weights of a segment stand in a block's scratch memory.
///
/// Extents are padded to groups of 16 channels. A layer is, for every group of inputs and every
/// group of outputs, the fragments of all lanes as the matrix instruction wants them, and behind
/// them its biases in float. Layers that do not fit together are cut into stages, each of which
/// takes the place of the one before.
template <class Unit, class Segment> struct SegmentLayout;
template <class Unit, class... D> struct SegmentLayout<Unit, op::Segment<D...>> {
  static constexpr int layers = sizeof...(D);

  PHYLLO_INLINE static constexpr int inputs(int l) {
    constexpr int in[] = {D::inputs...};
    return in[l];
  }
  PHYLLO_INLINE static constexpr int outputs(int l) {
    constexpr int out[] = {D::outputs...};
    return out[l];
  }
  PHYLLO_INLINE static constexpr int groups(int channels) { return (channels + 15) / 16; }
  PHYLLO_INLINE static constexpr int widest() {
    int most = inputs(0);
    for (int l = 0; l < layers; ++l) most = outputs(l) > most ? outputs(l) : most;
    return groups(most);
  }
  /// Bytes of a layer's fragments, and of all that it has.
  PHYLLO_INLINE static constexpr int weight_bytes(int l) {
    return groups(inputs(l)) * groups(outputs(l)) * Unit::blocks * Unit::lanes * 4 *
           int(sizeof(typename Unit::storage));
  }
  PHYLLO_INLINE static constexpr int bytes(int l) {
    return weight_bytes(l) + groups(outputs(l)) * 16 * 4;
  }

  /// First layer of a stage; of the stage behind the last one `layers`.
  PHYLLO_INLINE static constexpr int first_of(int stage) {
    int first = 0;
    for (int s = 0; s < stage && first < layers; ++s) {
      long sum = bytes(first++);
      while (first < layers && sum + bytes(first) <= Unit::scratch_budget) sum += bytes(first++);
    }
    return first;
  }
  PHYLLO_INLINE static constexpr int stages() {
    int s = 0;
    while (first_of(s) < layers) ++s;
    return s;
  }
  PHYLLO_INLINE static constexpr int stage_of(int l) {
    int s = 0;
    while (first_of(s + 1) <= l) ++s;
    return s;
  }
  /// Bytes before a layer, in its stage.
  PHYLLO_INLINE static constexpr int offset(int l) {
    int sum = 0;
    for (int k = first_of(stage_of(l)); k < l; ++k) sum += bytes(k);
    return sum;
  }
  PHYLLO_INLINE static constexpr int scratch_bytes() {
    int most = 0;
    for (int l = 0; l < layers; ++l)
      most = offset(l) + bytes(l) > most ? offset(l) + bytes(l) : most;
    return most;
  }

  template <int L> using Dense = At<TypeList<D...>, L>;
  /// Whether a layer has a stage for itself.
  PHYLLO_INLINE static constexpr bool is_alone(int l) {
    return first_of(stage_of(l)) == l && first_of(stage_of(l) + 1) == l + 1;
  }
  /// Whether a layer is the one before once more, in the same stage or each in its own.
  template <int L> PHYLLO_INLINE static constexpr bool repeats() {
    if constexpr (L == 0)
      return false;
    else
      return std::is_same_v<Dense<L>, Dense<L - 1>> &&
             (stage_of(L) == stage_of(L - 1) || (is_alone(L) && is_alone(L - 1)));
  }
  /// How many layers from L on are the same.
  template <int L> PHYLLO_INLINE static constexpr int run_length() {
    if constexpr (L + 1 == layers)
      return 1;
    else
      return repeats<L + 1>() ? 1 + run_length<L + 1>() : 1;
  }
};

}  // namespace phyllo::gpu

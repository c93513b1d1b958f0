// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/scratch_stages.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Where the weights of a segment stand in a block's scratch memory.
///
/// Extents are padded to groups of 16 channels. A layer is, for every group of inputs and every
/// group of outputs, the fragments of all lanes as the matrix instruction wants them, and behind
/// them its biases in float. Layers that do not fit together are cut into stages.
template <class MmaAtom, class Segment> struct SegmentLayout;
template <class MmaAtom, class... D>
struct SegmentLayout<MmaAtom, op::Segment<D...>>
    : ScratchStages<SegmentLayout<MmaAtom, op::Segment<D...>>> {
  using Stages = ScratchStages<SegmentLayout>;
  static constexpr int layers = sizeof...(D);
  static constexpr int pieces = layers;
  static constexpr long budget = MmaAtom::scratch_budget;

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
  /// Registers of a lane for the sums of the widest layer, and its values.
  PHYLLO_INLINE static constexpr int registers() {
    return widest() * 16 * 16 / MmaAtom::lanes * (4 + int(sizeof(typename MmaAtom::storage))) / 4;
  }
  /// Bytes of a layer's fragments, and of all that it has.
  PHYLLO_INLINE static constexpr int weight_bytes(int l) {
    return groups(inputs(l)) * groups(outputs(l)) * MmaAtom::blocks * MmaAtom::lanes * 4 *
           int(sizeof(typename MmaAtom::storage));
  }
  PHYLLO_INLINE static constexpr int bytes(int l) {
    return weight_bytes(l) + groups(outputs(l)) * 16 * 4;
  }

  /// Whether the derivative of a layer's chain wants what the chain had before it.
  PHYLLO_INLINE static constexpr bool keeps_input(int l) {
    constexpr bool keeps[] = {
        (D::chain::length > 0 && D::chain::derivative_of == Derivative::input)...};
    return keeps[l];
  }

  template <int L> using Dense = At<TypeList<D...>, L>;
  /// Whether a layer is the one before once more, in the same stage or each in its own.
  template <int L> PHYLLO_INLINE static constexpr bool repeats() {
    if constexpr (L == 0)
      return false;
    else
      return std::is_same_v<Dense<L>, Dense<L - 1>> &&
             (Stages::stage_of(L) == Stages::stage_of(L - 1) ||
              (Stages::is_alone(L) && Stages::is_alone(L - 1)));
  }
  /// How many layers from L on are the same.
  template <int L> PHYLLO_INLINE static constexpr int run_length() {
    if constexpr (L + 1 == layers)
      return 1;
    else
      return repeats<L + 1>() ? 1 + run_length<L + 1>() : 1;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/segment/segment_layout.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Layout of a whole training step in a block's scratch memory and a warp's registers.
///
/// Scratch: the weights in the order of the forward pass, and those of every layer but the first
/// also in the order of the backward pass; for the 16 samples of a warp the inputs of every layer,
/// the outputs and their gradients, as rows in which the gradients later replace the values; and
/// the inputs of chains where their derivatives need them. Rows are padded by 8 numbers to avoid
/// bank conflicts. Registers: sums of the weights' gradients. Those of a layer, 16 inputs by 16
/// outputs each, are distributed over the warps.
///
/// options  HasLoss: without one the gradients of the outputs are read from device memory where
///          they are used, and the first layer's weights are needed in both orders
template <class MmaAtom, class Segment, int Warps, bool HasLoss = true> struct StepLayout;
template <class MmaAtom, class... D, int Warps, bool HasLoss>
struct StepLayout<MmaAtom, op::Segment<D...>, Warps, HasLoss> {
  using Layers = SegmentLayout<MmaAtom, op::Segment<D...>>;
  static constexpr int layers = Layers::layers;
  static constexpr int warps = Warps;
  static constexpr int samples = Warps * 16;

  /// Value l is the input of layer l; behind the outputs the gradients that the loss gives.
  PHYLLO_INLINE static constexpr int channels(int value) {
    return value < layers ? Layers::inputs(value) : Layers::outputs(layers - 1);
  }
  static constexpr int element = int(sizeof(typename MmaAtom::storage));
  PHYLLO_INLINE static constexpr int stride(int value) {
    return Layers::groups(channels(value)) * 16 + 16 / element;
  }

  /// Bytes before each, from the start of the scratch memory.
  PHYLLO_INLINE static constexpr int weights_at(int l) {
    int sum = 0;
    for (int k = 0; k < l; ++k) sum += Layers::bytes(k);
    return sum;
  }
  PHYLLO_INLINE static constexpr int transposed_at(int l) {
    int sum = weights_at(layers);
    for (int k = HasLoss ? 1 : 0; k < l; ++k) sum += Layers::weight_bytes(k);
    return sum;
  }
  PHYLLO_INLINE static constexpr int rows_at(int value) {
    int sum = transposed_at(layers);
    for (int v = 0; v < value; ++v) sum += samples * stride(v) * element;
    return sum;
  }
  PHYLLO_INLINE static constexpr int saved_at(int l) {
    int sum = rows_at(layers + (HasLoss ? 2 : 1));
    for (int k = 0; k < l; ++k)
      sum += Layers::keeps_input(k) ? samples * stride(k + 1) * element : 0;
    return sum;
  }
  static constexpr int scratch_bytes = saved_at(layers);

  PHYLLO_INLINE static constexpr int gradient_groups(int l) {
    return Layers::groups(Layers::inputs(l)) * Layers::groups(Layers::outputs(l));
  }
  /// Groups of sums of a warp: of a layer, and before those of a layer.
  PHYLLO_INLINE static constexpr int slots_of(int l) {
    return (gradient_groups(l) + Warps - 1) / Warps;
  }
  PHYLLO_INLINE static constexpr int slot(int l) {
    int sum = 0;
    for (int k = 0; k < l; ++k) sum += slots_of(k);
    return sum;
  }
  static constexpr int slots = slot(layers);
  /// Channels of a layer's bias whose gradient a lane sums.
  static constexpr int bias_channels =
      (Layers::widest() * 16 + MmaAtom::lanes - 1) / MmaAtom::lanes;

  /// Registers of a lane for these sums, and for the sums and values of one layer at a time. What
  /// they leave of 255 is for weights and addresses.
  static constexpr int registers = slots * 16 * 16 / MmaAtom::lanes + layers * bias_channels;
  static constexpr int registers_of_layer = Layers::registers();
  static constexpr bool fits = scratch_bytes <= MmaAtom::scratch_budget && registers <= 128 &&
                               registers + registers_of_layer <= 200;
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/segment/segment_layout.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What a block of a training step that stores its values has in scratch memory, and what it
/// stores.
///
/// Scratch: weights alone, in the order in which they are used: of every layer as the forward pass
/// wants them, then from the last layer to the second as the backward pass does. Those that do not
/// fit together are cut into stages. Device memory: a matrix (samples, channels) for each
/// value, which is the input of a layer or the outputs, for the gradients of the outputs, and for
/// each layer's sums, first what its chain had before it, then their gradients.
///
/// options  HasLoss: without one the backward pass goes on to the first layer, there is no matrix
///          for the gradients of the outputs, and one for the outputs only if a derivative reads it
template <class MmaAtom, class Segment, bool HasLoss = true> struct StoredLayout;
template <class MmaAtom, class... D, bool HasLoss>
struct StoredLayout<MmaAtom, op::Segment<D...>, HasLoss>
    : ScratchStages<StoredLayout<MmaAtom, op::Segment<D...>, HasLoss>> {
  using Layers = SegmentLayout<MmaAtom, op::Segment<D...>>;
  static constexpr int layers = Layers::layers;
  static constexpr int pieces = 2 * layers - (HasLoss ? 1 : 0);
  static constexpr long budget = MmaAtom::scratch_budget;

  PHYLLO_INLINE static constexpr bool is_forward(int piece) { return piece < layers; }
  PHYLLO_INLINE static constexpr int layer_of(int piece) {
    return is_forward(piece) ? piece : 2 * layers - 1 - piece;
  }
  PHYLLO_INLINE static constexpr int bytes(int piece) {
    return is_forward(piece) ? Layers::bytes(piece) : Layers::weight_bytes(layer_of(piece));
  }

  /// Matrices, and of each its channels and the channels of those before it.
  PHYLLO_INLINE static constexpr int value(int v) { return v; }
  static constexpr int output_gradient = layers + 1;
  PHYLLO_INLINE static constexpr int sums(int layer) { return layers + 2 + layer; }
  static constexpr int matrices = 2 * layers + 2;
  static constexpr bool has_outputs =
      HasLoss ||
      (Layers::template Dense<layers - 1>::chain::length > 0 && !Layers::keeps_input(layers - 1));
  PHYLLO_INLINE static constexpr int channels(int matrix) {
    return matrix < layers            ? Layers::inputs(matrix)
           : matrix < output_gradient ? (has_outputs ? Layers::outputs(layers - 1) : 0)
           : matrix < sums(0)         ? (HasLoss ? Layers::outputs(layers - 1) : 0)
                                      : Layers::outputs(matrix - sums(0));
  }
  PHYLLO_INLINE static constexpr int channels_before(int matrix) {
    int sum = 0;
    for (int m = 0; m < matrix; ++m) sum += channels(m);
    return sum;
  }
  static constexpr long sample_bytes =
      long(channels_before(matrices)) * int(sizeof(typename MmaAtom::storage));
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/step/step_rows.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What a warp keeps of its 16 samples in scratch memory during a whole step. Backwards the
/// gradients by a layer's sums take the place of its output.
template <class MmaAtom, class Layout> struct WarpRows {
  using Rows = StepRows<MmaAtom, Layout>;
  using S = typename MmaAtom::storage;
  static constexpr int layers = Layout::layers;
  static constexpr int output_stride = Layout::stride(layers);
  static constexpr int output_columns = Layout::Layers::groups(Layout::channels(layers)) * 16;

  Rows rows;
  int warp;

  template <int Value>
  PHYLLO_INLINE void put_value(int k, int lane, int part, Pack4<S> const& four) const {
    place<Value>(k, lane, part) = four;
  }
  template <int Layer>
  PHYLLO_INLINE void put_before_chain(int k, int lane, int part, Pack4<S> const& four) const {
    Rows::template four<Layer + 1>(rows.template saved<Layer>(warp), k, lane, part) = four;
  }
  /// What the derivative of a layer's chain wants: what it made, or what it had before.
  template <int Layer> PHYLLO_INLINE Pack4<S> kept(int k, int lane, int part) const {
    if constexpr (Layout::Layers::keeps_input(Layer))
      return Rows::template four<Layer + 1>(rows.template saved<Layer>(warp), k, lane, part);
    else
      return place<Layer + 1>(k, lane, part);
  }
  template <int Layer>
  PHYLLO_INLINE void put_gradient(int k, int lane, int part, Pack4<S> const& four) const {
    place<Layer + 1>(k, lane, part) = four;
  }

  PHYLLO_INLINE S const* output_row(int sample) const {
    return rows.template value<layers>(warp) + MmaAtom::scratch_row(sample) * output_stride;
  }
  PHYLLO_INLINE S* output_gradient_row(int sample) const {
    return rows.template value<layers + 1>(warp) + MmaAtom::scratch_row(sample) * output_stride;
  }
  PHYLLO_INLINE Pack4<S> output_gradient(int k, int lane, int part) const {
    return place<layers + 1>(k, lane, part);
  }

 private:
  template <int Value> PHYLLO_INLINE Pack4<S>& place(int k, int lane, int part) const {
    return Rows::template four<Value>(rows.template value<Value>(warp), k, lane, part);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

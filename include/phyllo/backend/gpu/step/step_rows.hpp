// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/backend/gpu/product/packed_weights.hpp>
#include <phyllo/backend/gpu/step/step_layout.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// The scratch memory of a block in a whole step, by name.
template <class MmaAtom, class Layout> struct StepRows {
  using S = typename MmaAtom::storage;
  using Layers = typename Layout::Layers;
  template <int Layer> using Dense = typename Layers::template Dense<Layer>;

  std::byte* scratch;

  // constexpr, so that offsets are not recomputed in the loop.
  template <int Layer> PHYLLO_INLINE auto weights() const {
    constexpr int at = Layout::weights_at(Layer);
    return PackedWeights<MmaAtom, Dense<Layer>::inputs, Dense<Layer>::outputs>{
        reinterpret_cast<S*>(scratch + at)};
  }
  template <int Layer> PHYLLO_INLINE auto transposed() const {
    constexpr int at = Layout::transposed_at(Layer);
    return PackedWeights<MmaAtom, Dense<Layer>::outputs, Dense<Layer>::inputs>{
        reinterpret_cast<S*>(scratch + at)};
  }
  /// The 16 rows of a warp's samples of a value, in the order of MmaAtom::scratch_row.
  template <int Value> PHYLLO_INLINE S* value(int warp) const {
    constexpr int at = Layout::rows_at(Value), stride = Layout::stride(Value);
    return reinterpret_cast<S*>(scratch + at) + warp * 16 * stride;
  }
  /// The same of what the chain of a layer had before it.
  template <int Layer> PHYLLO_INLINE S* saved(int warp) const {
    constexpr int at = Layout::saved_at(Layer), stride = Layout::stride(Layer + 1);
    return reinterpret_cast<S*>(scratch + at) + warp * 16 * stride;
  }
  /// Four channels of group k, a lane's part, in 16 rows of a value.
  template <int Value> PHYLLO_INLINE static Pack4<S>& four(S* rows, int k, int lane, int part) {
    constexpr int stride = Layout::stride(Value);
    int const row = MmaAtom::scratch_row(MmaAtom::sample(lane, part));
    return *reinterpret_cast<Pack4<S>*>(rows + row * stride + k * 16 + MmaAtom::channel(lane));
  }
  /// Memory for the warps' sums of biases at the end, when no warp reads the rows any more.
  PHYLLO_INLINE float* sums() const {
    constexpr int at = Layout::rows_at(0);
    return reinterpret_cast<float*>(scratch + at);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

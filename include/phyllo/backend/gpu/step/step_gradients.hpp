// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/step/step_rows.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// A warp's share of the gradients of weights and biases, in registers over all tiles of its block.
template <class MmaAtom, class Layout> struct StepGradients {
  using Layers = typename Layout::Layers;
  using Rows = StepRows<MmaAtom, Layout>;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes;
  static constexpr int warps = Layout::warps;
  template <int Layer> using Dense = typename Layers::template Dense<Layer>;

  typename MmaAtom::Sums weight[Layout::slots][MmaAtom::blocks][emulated_lanes];
  float bias[Layout::layers][Layout::bias_channels][emulated_lanes];

  /// inputs^T gradients over the samples of the block, of the groups that are this warp's.
  template <int Layer> PHYLLO_INLINE void add_weights(Rows const& rows, int warp, int first_lane) {
    constexpr int out = Layers::groups(Dense<Layer>::outputs);
    constexpr int slots = Layout::slots_of(Layer), before = Layout::slot(Layer);
    constexpr int groups = Layout::gradient_groups(Layer);
    constexpr int stride_x = Layout::stride(Layer), stride_y = Layout::stride(Layer + 1);
    // Whether all groups of a warp have the same outputs.
    constexpr bool same_outputs = warps % out == 0;
    for (int m = 0; m < warps; ++m) {
      typename MmaAtom::Weights d_y[MmaAtom::blocks][emulated_lanes];
      PHYLLO_UNROLL_ON_DEVICE
      for (int slot = 0; slot < slots; ++slot) {
        int const group = slot * warps + warp;
        if (group >= groups) continue;
        typename MmaAtom::Values x[emulated_lanes];
        MmaAtom::by_channel(x, rows.template value<Layer>(m) + group / out * 16, stride_x,
                            first_lane);
        if (slot == 0 || !same_outputs)
          MmaAtom::by_channel(d_y, rows.template value<Layer + 1>(m) + group % out * 16, stride_y,
                              first_lane);
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < MmaAtom::blocks; ++b)
          MmaAtom::multiply(weight[before + slot][b], x, d_y[b]);
      }
    }
  }
  /// A lane sums every lanes-th channel over the samples of its warp.
  template <int Layer> PHYLLO_INLINE void add_bias(Rows const& rows, int warp, int first_lane) {
    if constexpr (Dense<Layer>::bias) {
      constexpr int stride = Layout::stride(Layer + 1);
      auto const* const d_y = rows.template value<Layer + 1>(warp);
      for (int i = 0; i < emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int j = 0; j < Layout::bias_channels; ++j) {
          int const c = j * MmaAtom::lanes + first_lane + i;
          if (c >= Dense<Layer>::outputs) continue;
          float sum = 0;
          for (int n = 0; n < 16; ++n) sum += float(d_y[n * stride + c]);
          bias[Layer][j][i] += sum;
        }
      }
    }
  }

  /// The warp's groups into a layer's gradient (in, out).
  template <int Layer>
  PHYLLO_INLINE void write_weights(float* gradient, int warp, int first_lane) const {
    constexpr int out = Layers::groups(Dense<Layer>::outputs);
    constexpr int slots = Layout::slots_of(Layer), before = Layout::slot(Layer);
    constexpr int groups = Layout::gradient_groups(Layer);
    PHYLLO_UNROLL_ON_DEVICE
    for (int slot = 0; slot < slots; ++slot) {
      int const group = slot * warps + warp;
      if (group >= groups) continue;
      for (int i = 0; i < emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < MmaAtom::blocks; ++b) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int e = 0; e < 4; ++e) {
            int const c = group / out * 16 + MmaAtom::gradient_input(first_lane + i, e);
            int const o = group % out * 16 + MmaAtom::gradient_output(first_lane + i, b, e);
            if (c < Dense<Layer>::inputs && o < Dense<Layer>::outputs)
              gradient[c * Dense<Layer>::outputs + o] = weight[before + slot][b][i].value[e];
          }
        }
      }
    }
  }
  /// The warp's sums of a bias, (warps, channels), and of all warps' those of channel o.
  static constexpr int channels = Layout::bias_channels * MmaAtom::lanes;
  template <int Layer> PHYLLO_INLINE void write_bias(float* sums, int warp, int first_lane) const {
    for (int i = 0; i < emulated_lanes; ++i) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int j = 0; j < Layout::bias_channels; ++j)
        sums[warp * channels + j * MmaAtom::lanes + first_lane + i] = bias[Layer][j][i];
    }
  }
  PHYLLO_INLINE static float sum_bias(float const* sums, int o) {
    float sum = 0;
    for (int w = 0; w < warps; ++w) sum += sums[w * channels + o];
    return sum;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

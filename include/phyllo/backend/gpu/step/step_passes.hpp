// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/backend/gpu/segment/segment_layout.hpp>
#include <phyllo/backend/gpu/segment/tile_rows.hpp>
#include <phyllo/backend/gpu/step/step_boundary.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// What kernels of a training step have in common: a warp takes 16 samples through the layers to
/// the loss, and its gradient back; inside a network the gradient that is given. Values and sums
/// pass through registers; what the way back wants of the way there is in rows, in scratch memory
/// (WarpRows) or device memory (StoredRows).
///
/// shape    value l is the input of layer l, the last one the outputs
/// options  L: a loss, or GivenGradient
template <class MmaAtom, class Segment, class L, class P> struct StepPasses;
template <class MmaAtom, class... D, class L, class P>
struct StepPasses<MmaAtom, op::Segment<D...>, L, P> {
  using S = typename P::storage;
  using Segment = op::Segment<D...>;
  using Layers = SegmentLayout<MmaAtom, Segment>;
  using Boundary = StepBoundary<MmaAtom, Segment, L, P>;
  using Work = typename Boundary::Work;
  static constexpr int emulated_lanes = MmaAtom::emulated_lanes;
  static constexpr int layers = Layers::layers;
  static constexpr int widest = Layers::widest();
  static constexpr int outputs = Layers::outputs(layers - 1);
  template <int Layer> using Dense = typename Layers::template Dense<Layer>;
  template <int Layer> using Chain = typename Dense<Layer>::chain;
  /// Of the layer at hand, or its gradients.
  using Values = typename MmaAtom::Values[1][widest][emulated_lanes];

  TileRows<MmaAtom, Layers::inputs(0)> source;
  Boundary boundary;
  S const* parameters = nullptr;  // from the segment's first on
  int parameter_count = 0;
  int weight[layers] = {};
  int bias[layers] = {};
  int position[layers] = {};
  Randomness random;

  StepPasses(Work const& work, ExternalTensor const& from)
      : source(from, work.forward.batch),
        boundary(work),
        parameters(work.forward.parameters + Boundary::parameter_first(work)),
        parameter_count(work.parameter_count),
        random(work.forward.random) {
    for (int l = 0; l < layers; ++l) {
      weight[l] = work.forward.weight[l] - Boundary::parameter_first(work);
      bias[l] = work.forward.bias[l] - Boundary::parameter_first(work);
      position[l] = work.forward.position[l];
    }
  }

 protected:
  template <int Layer, class Packed>
  PHYLLO_INLINE void pack(Packed const& packed, int thread, int threads) const {
    packed.pack(parameters + weight[Layer], Dense<Layer>::bias ? parameters + bias[Layer] : nullptr,
                thread, threads);
  }
  template <int Layer, class Packed>
  PHYLLO_INLINE void pack_transposed(Packed const& packed, int thread, int threads) const {
    packed.pack_transposed(parameters + weight[Layer], thread, threads);
  }

  template <class Rows>
  PHYLLO_INLINE void read(Values& value, Rows const& rows, long first, int first_lane) const {
    constexpr int groups = Layers::groups(Layers::inputs(0));
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < groups; ++k) {
      for (int i = 0; i < emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < MmaAtom::parts; ++part) {
          int const lane = first_lane + i;
          Pack4<S> const four =
              source.read(first + MmaAtom::sample(lane, part), k * 16 + MmaAtom::channel(lane));
          MmaAtom::put(value[0][k][i], part, four);
          rows.template put_value<0>(k, lane, part, four);
        }
      }
    }
  }

  /// Value Layer -> value Layer + 1, and what its chain had before it where the derivative wants
  /// that.
  template <int Layer, class Packed, class Rows>
  PHYLLO_INLINE void forward(Values& value, Packed const& packed, Rows const& rows, long first,
                             int first_lane) const {
    constexpr int out = Layers::groups(Dense<Layer>::outputs);
    typename MmaAtom::Sums sums[1][out][MmaAtom::blocks][emulated_lanes];
    packed.begin(sums, first_lane);
    packed.multiply(sums, value, first_lane);
    auto const element = randomness<Layer>();
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < out; ++n) {
      for (int i = 0; i < emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < MmaAtom::parts; ++part) {
          int const lane = first_lane + i;
          Accumulator4<MmaAtom> four(sums[0][n], i, part);
          if constexpr (Layers::keeps_input(Layer))
            rows.template put_before_chain<Layer>(n, lane, part, MmaAtom::rounded(four.value));
          int const sample = int(first) + MmaAtom::sample(lane, part);
          int const channel = n * 16 + MmaAtom::channel(lane);
          auto const stored = four.template finished<Chain<Layer>, Dense<Layer>::outputs>(
              element, sample, channel, sample < source.batch);
          MmaAtom::put(value[0][n][i], part, stored);
          rows.template put_value<Layer + 1>(n, lane, part, stored);
        }
      }
    }
  }

  /// The loss, where there is one, and the gradient of the outputs times the derivative of the last
  /// chain.
  template <class Rows>
  PHYLLO_INLINE void begin_backward(Values& value, Rows const& rows, long first,
                                    int first_lane) const {
    boundary.evaluate(rows, first, source.batch, first_lane);
    constexpr int groups = Layers::groups(outputs);
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < groups; ++n) {
      for (int i = 0; i < emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < MmaAtom::parts; ++part)
          differentiate<layers - 1>(Accumulator4<MmaAtom>(boundary.output_gradient(
                                        rows, first, source.batch, n, first_lane + i, part)),
                                    value, rows, first, n, first_lane, i, part);
      }
    }
  }

  /// Gradients by the sums of Layer, from sums of those behind its chain.
  template <int Layer, class Sums, class Rows>
  PHYLLO_INLINE void backward(Values& value, Sums const& sums, Rows const& rows, long first,
                              int first_lane) const {
    constexpr int groups = Layers::groups(Dense<Layer>::outputs);
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < groups; ++n) {
      for (int i = 0; i < emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < MmaAtom::parts; ++part)
          differentiate<Layer>(Accumulator4<MmaAtom>(sums[0][n], i, part), value, rows, first, n,
                               first_lane, i, part);
      }
    }
  }

  /// Gradients of the inputs where they are wanted, from those by the sums of layer 0.
  template <class Packed>
  PHYLLO_INLINE void input_gradient(Values const& value, Packed const& transposed, long first,
                                    int first_lane) const {
    if (!boundary.has_input_gradient()) return;
    constexpr int in = Layers::groups(Layers::inputs(0));
    typename MmaAtom::Sums sums[1][in][MmaAtom::blocks][emulated_lanes] = {};
    transposed.multiply(sums, value, first_lane);
    boundary.write_input_gradient(sums, first, source.batch, first_lane);
  }

 private:
  template <int Layer> PHYLLO_INLINE Randomness randomness() const {
    Randomness of_layer = random;
    of_layer.position += position[Layer];
    return of_layer;
  }

  // Behind the chain of a layer -> before it.
  template <int Layer, class Rows>
  PHYLLO_INLINE void differentiate(Accumulator4<MmaAtom> four, Values& value, Rows const& rows,
                                   long first, int n, int first_lane, int i, int part) const {
    int const lane = first_lane + i;
    if constexpr (Chain<Layer>::length > 0) {
      int const channel = n * 16 + MmaAtom::channel(lane);
      four.template differentiate<Chain<Layer>>(
          Accumulator4<MmaAtom>(rows.template kept<Layer>(n, lane, part)), randomness<Layer>(),
          int(first) + MmaAtom::sample(lane, part), channel);
      four.template end_at<Dense<Layer>::outputs>(channel);
    }
    // Behind the batch a chain's derivative may be no number.
    if (first + MmaAtom::sample(lane, part) >= source.batch) four = Accumulator4<MmaAtom>{};
    Pack4<S> const stored = MmaAtom::rounded(four.value);
    MmaAtom::put(value[0][n][i], part, stored);
    rows.template put_gradient<Layer>(n, lane, part, stored);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

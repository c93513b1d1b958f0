// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/accumulator4.hpp>
#include <phyllo/backend/gpu/product/product_epilogue.hpp>
#include <phyllo/backend/gpu/segment/segment_layout.hpp>
#include <phyllo/core/external_tensor.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/row_loops.hpp>
#include <phyllo/op/segment_backward.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Instead of a loss: the gradient of the outputs is read, that of the inputs is a result.
struct GivenGradient {};

template <class L> inline constexpr bool has_loss = true;
template <> inline constexpr bool has_loss<GivenGradient> = false;

/// The op of a training step: of a network that is one segment, or of a segment inside a network.
template <class Segment, class L> struct StepOp {
  using type = op::WholeStep<Segment, L>;
};
template <class Segment> struct StepOp<Segment, GivenGradient> {
  using type = op::SegmentBackward<Segment>;
};

/// What a training step reads and writes at the outputs and the inputs of its segment: here targets
/// and values of a loss.
template <class MmaAtom, class Segment, class L, class P> struct StepBoundary : op::HeldLoss<L> {
  using S = typename P::storage;
  using Work = typename op::WholeStep<Segment, L>::template Run<P>;
  using Layers = SegmentLayout<MmaAtom, Segment>;
  static constexpr int outputs = Layers::outputs(Layers::layers - 1);

  ExternalTensor targets;
  StepState const* state = nullptr;
  float* values = nullptr;   // (N)
  float* correct = nullptr;  // (N) or nullptr
  float loss_weight = 1;

  explicit StepBoundary(Work const& work)
      : op::HeldLoss<L>(work),
        targets(work.targets),
        state(work.state),
        values(work.values),
        correct(work.correct),
        loss_weight(work.weight) {}

  /// Where the parameters of the segment begin: elements from the start of the arena.
  static int parameter_first(Work const&) { return 0; }

  /// Values of the loss, correct, and d loss / d outputs of the samples of a warp, into its rows.
  template <class Rows>
  PHYLLO_INLINE void evaluate(Rows const& rows, long first, int batch, int first_lane) const {
    MmaAtom::synchronize();
    for (int i = 0; i < MmaAtom::emulated_lanes; ++i)
      loss_of_sample(rows, first, batch, first_lane + i);
    MmaAtom::synchronize();
  }
  template <class Rows>
  PHYLLO_INLINE Pack4<S> output_gradient(Rows const& rows, long, int, int n, int lane,
                                         int part) const {
    return rows.output_gradient(n, lane, part);
  }

 private:
  // The first 16 lanes take a sample each; padding of its row of gradients is zero.
  template <class Rows>
  PHYLLO_INLINE void loss_of_sample(Rows const& rows, long first, int batch, int lane) const {
    if (lane >= 16) return;
    long const n = first + lane;
    S* const d_row = rows.output_gradient_row(lane);
    for (int c = n < batch ? outputs : 0; c < Rows::output_columns; ++c) d_row[c] = S{};
    if (n >= batch) return;
    op::TargetRow<L, float> const target(targets, int(n), Shape{outputs}, 0);
    float const scale = state != nullptr ? state->loss_scale : 1.0f;
    op::GradientRow<S, float> const gradient{d_row, loss_weight * scale, false};
    op::LossRow<L, S, float, op::SerialLoops, op::TargetRow<L, float>> const row(
        {}, outputs, rows.output_row(lane), target, gradient);
    values[n] = loss_weight * row.evaluate(this->held_loss());
    if (correct != nullptr) correct[n] = row.correct();
  }
};

/// The same inside a network: gradients in slots of the arena of activations.
template <class MmaAtom, class Segment, class P>
struct StepBoundary<MmaAtom, Segment, GivenGradient, P> {
  using S = typename P::storage;
  using Work = typename op::SegmentBackward<Segment>::template Run<P>;
  using Layers = SegmentLayout<MmaAtom, Segment>;
  static constexpr int inputs = Layers::inputs(0);
  static constexpr int outputs = Layers::outputs(Layers::layers - 1);

  S const* d_y = nullptr;  // (N, outputs)
  S* d_x = nullptr;        // (N, inputs), or nullptr
  bool accumulate = false;

  explicit StepBoundary(Work const& work)
      : d_y(work.d_y), d_x(work.d_x), accumulate(work.accumulate_gradient) {}

  static int parameter_first(Work const& work) { return work.parameter_first; }

  template <class Rows> PHYLLO_INLINE void evaluate(Rows const&, long, int, int) const {}
  template <class Rows>
  PHYLLO_INLINE Pack4<S> output_gradient(Rows const&, long first, int batch, int n, int lane,
                                         int part) const {
    int sample = int(first) + MmaAtom::sample(lane, part);
    if (sample >= batch) return {};
    MmaAtom::opaque(sample);  // compilers else keep the addresses of all parts in registers
    return read_four<outputs>(d_y + long(sample) * outputs, n * 16 + MmaAtom::channel(lane));
  }

  PHYLLO_INLINE bool has_input_gradient() const { return d_x != nullptr; }
  /// Sums (16 samples, inputs) of a warp, written to d_x or added to it.
  template <class Sums>
  PHYLLO_INLINE void write_input_gradient(Sums const& sums, long first, int batch,
                                          int first_lane) const {
    constexpr int groups = Layers::groups(inputs);
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < groups; ++k) {
      for (int i = 0; i < MmaAtom::emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int part = 0; part < MmaAtom::parts; ++part) {
          int sample = int(first) + MmaAtom::sample(first_lane + i, part);
          int const channel = k * 16 + MmaAtom::channel(first_lane + i);
          if (sample >= batch || channel >= inputs) continue;
          BackwardEpilogue<MmaAtom, P>{d_x, inputs, accumulate}(
              sample, channel, Accumulator4<MmaAtom>(sums[0][k], i, part));
        }
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

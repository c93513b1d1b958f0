// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/op/label_search.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::op {

/// Rows of no more channels are computed side by side on processors: longer ones fill vectors by
/// themselves.
inline constexpr int few_channels = 63;

/// Parts of a sample's positions that a device computes side by side: so small that a few images
/// keep many multiprocessors busy, so large that adding their sums is little work.
PHYLLO_INLINE constexpr int loss_parts(Shape const& outputs) {
  int const size = outputs.channels <= few_channels ? 512 : 32;
  int const wanted = (outputs.positions() + size - 1) / size;
  return wanted < 64 ? wanted : 64;
}

/// The most of any output of a network.
template <class Ports> constexpr int most_loss_parts() {
  int most = 1;
  for (int k = 0; k < Ports::outputs; ++k)
    if (int const parts = loss_parts(Ports::output_shape(k)); parts > most) most = parts;
  return most;
}

/// A loss in the arguments of a kernel. One without members takes no room, as a base class.
///
/// errors   none here; loss/losses.hpp refuses members that no kernel can copy, or of more than 16
///          bytes
template <class L, bool = std::is_empty_v<L>> struct HeldLoss {
  L loss_held = {};
  PHYLLO_INLINE L const& held_loss() const { return loss_held; }
  void hold(L const& loss) { loss_held = loss; }
};
template <class L> struct HeldLoss<L, true> {
  PHYLLO_INLINE L held_loss() const { return {}; }
  void hold(L const&) {}
};

/// Channels of an output for each channel of its target: two where a loss reads a mean and a
/// variance, zero where it has no targets.
template <class L> constexpr int outputs_per_target() {
  if constexpr (requires { L::outputs_per_target; })
    return L::outputs_per_target;
  else
    return 1;
}
/// Equal parts of the channels of an output, as the loss reads them.
template <class L> constexpr int output_parts() {
  if constexpr (requires { L::parts; })
    return L::parts;
  else
    return outputs_per_target<L>() > 0 ? outputs_per_target<L>() : 1;
}

/// Whether the loss of a row is the mean over its channels of a term of each: rows that stand one
/// behind the other may then be computed as one long row.
template <class L> constexpr bool mean_of_channels() {
  if constexpr (requires { L::mean_of_channels; })
    return L::mean_of_channels;
  else
    return false;
}

/// Whether positions with a class index of L's own choice count neither in its sum nor in its mean.
template <class L> inline constexpr bool ignores_labels = requires { L::ignored; };

/// The class index of a row: -1 outside of 0..C-1, -2 where the loss ignores it.
template <class L> PHYLLO_INLINE int label_of(long long number, int channels) {
  if constexpr (ignores_labels<L>)
    if (number == L::ignored) return -2;
  return number >= 0 && number < channels ? int(number) : -1;
}

/// A loss per sample, and its gradient in the same pass.
///
/// The loss L is a formula over one row, the C channels of one position (op::LossRow): an object
/// that returns the value and hands its gradient to the row, such as CrossEntropy. The loss of a
/// sample is the mean over its positions, of the batch the mean over its samples. The gradient is
/// left as a sum over samples (times weight and loss scale): the division by the number of samples
/// of all ranks belongs to the optimizer, which makes uneven batches right.
///
/// shape    outputs (N, S, C) · targets as L says · d_outputs (N, S, C) · values, correct (N)
/// options  Few: C is at most few_channels; what only longer rows need is not compiled
/// cost     one read, one write of the outputs
template <class L, bool Few = false> struct Loss {
  using loss = L;

  template <class Precision> struct Evaluate : HeldLoss<L> {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0;
    Shape shape;
    accumulate weight = 1;
    storage const* outputs = nullptr;
    ExternalTensor targets;
    StepState const* state = nullptr;  // loss scale; nullptr: one
    storage* d_outputs = nullptr;      // nullptr: value only
    bool accumulate_gradient = false;
    accumulate* values = nullptr;   // (N) written, or added to when accumulate_values
    accumulate* correct = nullptr;  // (N) share of positions whose class is right, or nullptr
    accumulate* partial = nullptr;  // workspace (N, loss_parts, 2), where a device needs several
    bool accumulate_values = false;
    bool same_in_any_batch = false;  // a sample's bits do not depend on the size of its batch
  };
};

/// The same work; see Few.
template <class L> struct Loss<L, true> : Loss<L, false> {};

/// Numbers behind the gradients of the parameters, summed with them over the ranks.
struct Tail {
  static constexpr int samples = 0, loss = 1, correct = 2;
  static constexpr int wrong_labels = 3;  // class indices outside of their range, in this step
  // The same of all steps since a message about them: written by the update, not summed.
  static constexpr int untold_labels = 4;
  static constexpr int changes = 5;  // ranks whose weights were changed since they were compared
  static constexpr int size = 6;
};

/// sums[0] = N, sums[1] = sum over n of values[n], sums[2] = sum of correct predictions, in a fixed
/// order; sums[3] = class indices outside of their range, where they are searched for.
template <class Precision> struct LossSum {
  using accumulate = typename Precision::accumulate;
  int batch = 0;
  accumulate const* values = nullptr;
  accumulate const* correct = nullptr;
  accumulate* partial = nullptr;  // workspace (2, blocks)
  accumulate* sums = nullptr;     // (3), or (4) with labels
  LabelSearch<accumulate> labels = {};
  static constexpr int blocks = 64;

  /// By one thread, once sums[1] is written.
  PHYLLO_INLINE void count_labels() const {
    if (labels.found != nullptr) sums[Tail::wrong_labels] = labels.count(sums[Tail::loss]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op

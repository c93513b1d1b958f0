// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/policy/communication.hpp>

#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// A training step that is recorded once and replayed. The caller writes the next batch into the
/// same Views on the trainer's instance, and replays. What changes from step to step, such as the
/// learning rate and random masks, is stored on the device.
///
/// options  T: a Trainer · In, Targets: the arguments of its `step`
/// state    a graph of the device's runtime. Without such graphs, or with a communication policy
///          that the runtime cannot record, nothing: replay then calls `step`
/// threads  as Trainer
/// errors   run: the first step of a trainer cannot be captured, nor one on an instance without a
///          stream of its own; a replay after set_loss, set_group, set_frozen, or a checkpoint with
///          other missed steps of tensors -> Error
/// numerics those of `step`, bit for bit
/// cost     one launch of the host for all kernels of a step
template <class T, class In, class Targets> class CapturedStep {
  using Recorded = typename Recorder<typename T::space>::type;

 public:
  /// Whether a step is a graph of the device's runtime.
  static constexpr bool is_graph =
      !std::is_void_v<Recorded> && is_recordable<typename T::communication_type>;

  /// The trainer must outlive this object.
  CapturedStep(T& trainer, In const& in, Targets const& targets)
      : trainer_(&trainer),
        in_(in),
        targets_(targets),
        label_(trainer.model().name() + "/captured step"),
        choices_(trainer.choice_changes()),
        recorded_(record()) {}

  /// Makes one step; asynchronous as `step` is. Under several ranks, all replay or all step.
  void replay() {
    if (trainer_->accumulated() > 0)
      throw Error(label_ +
                  ": expected a captured step without accumulated gradients, which it has not "
                  "recorded, got those of " +
                  std::to_string(trainer_->accumulated()) +
                  " micro-batches. Call step for the last micro-batch.");
    if (trainer_->choice_changes() != choices_)
      throw Error(
          label_ +
          ": expected the losses, parameter groups and frozen tensors that it has recorded, "
          "got others since. Capture the step again.");
    if constexpr (is_graph) {
      trainer_->model().forget_forward();
      trainer_->model().follow(trainer_->exec());
      count_from(trainer_->steps() + 1, samples_seen() + samples_);
      recorded_.launch(trainer_->exec(), label_);
    } else {
      trainer_->step(in_, targets_);
    }
  }

 private:
  struct Nothing {};
  using State = std::conditional_t<is_graph, Recorded, Nothing>;

  State record() {
    if (trainer_->accumulated() > 0)
      throw Error(label_ +
                  ": expected no accumulated gradients, which a captured step cannot repeat. Call "
                  "step for the last micro-batch before capture.");
    if constexpr (is_graph) {
      trainer_->model().follow(trainer_->exec());  // a recording contains no fence
      long const steps = trainer_->steps(), seen = samples_seen();
      Recorded recorded(trainer_->exec(), label_, [this] { trainer_->step(in_, targets_); });
      samples_ = samples_seen() - seen;
      count_from(steps, seen);  // nothing was trained yet
      return recorded;
    } else {
      return {};
    }
  }

  // Counts of the trainer on the host, which a graph does not advance. Not all trainers count
  // samples.
  static constexpr bool counts_samples = requires(T& trainer) { trainer.samples_seen(); };
  long samples_seen() const {
    if constexpr (counts_samples)
      return trainer_->samples_seen();
    else
      return 0;
  }
  void count_from(long steps, [[maybe_unused]] long samples) {
    trainer_->count_steps_from(steps);
    if constexpr (counts_samples) trainer_->count_samples_from(samples);
  }

  T* trainer_;
  In in_;  // Views keep their memory
  Targets targets_;
  std::string label_;
  long choices_;
  long samples_ = 0;  // of a replay
  State recorded_;
};

}  // namespace phyllo::inline PHYLLO_ISA

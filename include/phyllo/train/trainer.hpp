// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/loss/losses.hpp>
#include <phyllo/train/captured_step.hpp>
#include <phyllo/train/refused_trainer.hpp>
#include <phyllo/train/training_parts.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Multiplies running statistics by a factor.
struct ScaleBuffers {
  float* buffers = nullptr;
  float factor = 1;
  KOKKOS_FUNCTION void operator()(int i) const { buffers[i] *= factor; }
};

/// A model, a loss, an optimizer and the communication of the ranks that train together.
///
/// options  Net · L: a loss or Losses<...> · Rule: Sgd, Adam · P: precision · C: communication ·
///          Exec: execution space, backends, fusion
/// threads  one thread at a time, and none calls its model or that model's sessions meanwhile
/// errors   run: wrong extents or a batch larger than ModelOptions::batch -> Error; at
///          construction: see TrainingParts. With several ranks, errors of a step name the step and
///          its phase; other ranks late, gone or dead -> RankFailure.
/// numerics the gradient is the mean over the samples of all ranks, for batches of any sizes
/// cost     forward, loss, backward and update; one pass where the network is one narrow segment
template <ComposedNetwork Net, class L, UpdateRule Rule, Precision P, Communication C,
          ExecutionChoice Exec>
class Trainer<Net, L, Rule, P, C, Exec> : public TrainingParts<Net, L, Rule, P, C, Exec> {
  using Parts = TrainingParts<Net, L, Rule, P, C, Exec>;
  using Parts::communication_, Parts::evaluation_, Parts::exec_, Parts::model_, Parts::optimizer_;
  using Parts::part_, Parts::step_label_, Parts::steps_;

 public:
  using Parts::whole_step;
  using typename Parts::accumulate, typename Parts::AllBuckets, typename Parts::Evaluator;
  using typename Parts::ModelType, typename Parts::space;

  Trainer(space const& exec, Rule const& rule, ModelOptions const& options = {},
          OptimizerOptions const& optimizer = {})
    requires std::is_default_constructible_v<C>
      : Trainer(exec, C{}, rule, options, optimizer) {}
  template <class Communicator>
  Trainer(space const& exec, Communicator&& communicator, Rule const& rule,
          ModelOptions const& options = {}, OptimizerOptions const& optimizer = {})
      : Parts(exec, std::forward<Communicator>(communicator), rule, options, optimizer) {
    communication_.reserve(exec, long(sizeof(accumulate)) * ModelType::gradient_size);
    plan_buckets<AllBuckets>(exec, model_.gradients().data(), ModelType::gradient_size,
                             communication_);
    if constexpr (ExchangesWeights<C> || SharesParameters<C>)
      communication_.prepare(exec, trained());
  }

  Trainer(Trainer const&) = delete;  // Trainer: its parts refer to each other.
  Trainer& operator=(Trainer const&) = delete;

  /// One step on this rank's batch, and on those that were accumulated before it; asynchronous,
  /// except for transfers between ranks. Ranks may have batches of different sizes, or empty ones.
  template <class In, class Targets> void step(In const& in, Targets const& targets) try {
    ++steps_;
    Kokkos::Profiling::ScopedRegion const region(step_label_);
    int const batch = pass(in, targets, true);
    part_.begin(StepPart::gradient_sum);
    communication_.finish(exec_);
    part_.begin(StepPart::update);
    accumulated_.clear();
    optimizer_.update(exec_, model_, communication_);
    if constexpr (ExchangesWeights<C> || SharesParameters<C>) part_.begin(StepPart::exchange);
    if constexpr (ExchangesWeights<C>) communication_.exchange(exec_, trained(), samples_ + batch);
    samples_ = 0;
    if constexpr (SharesParameters<C>) communication_.gather(exec_, trained());
    part_.end();
  } catch (...) {
    forget_accumulated();
    this->fail();
  }

  /// Adds the gradients of one micro-batch to those of the next step, which then is a step on all
  /// samples together: accumulate_gradients(a), accumulate_gradients(b),
  /// step(c). Sends no gradients. Where the network has random masks or statistics of all ranks,
  /// every rank accumulates equally often.
  ///
  /// state    of the sum: not in checkpoints
  /// errors   as step; after an error of either, nothing is accumulated
  /// numerics the mean over all samples; clipped once, with one loss scale. Statistics of a batch
  ///          normalisation are those of each micro-batch; random masks are drawn in each pass
  /// cost     one pass over the gradients, and as much memory from the first call on
  template <class In, class Targets>
  void accumulate_gradients(In const& in, Targets const& targets) try {
    Kokkos::Profiling::ScopedRegion const region(step_label_);
    samples_ += pass(in, targets, false);
    accumulated_.add(exec_, model_.gradients().data());
    part_.end();
  } catch (...) {
    forget_accumulated();
    this->fail();
  }
  /// For checkpoints: samples of this rank so far, by which its running statistics count.
  long samples_seen() const { return seen_; }
  void count_samples_from(long samples) { seen_ = samples; }
  /// Micro-batches that the next step adds to its own.
  int accumulated() const { return accumulated_.parts(); }

  /// Records a step on these Views, to be repeated by `replay()`: on CUDA and HIP each is one
  /// launch of a graph. Call `step` once before, so that everything is allocated.
  template <class In, class Targets>
  CapturedStep<Trainer, In, Targets> capture(In const& in, Targets const& targets) {
    return CapturedStep<Trainer, In, Targets>(*this, in, targets);
  }

  /// Loss and accuracy in inference mode, over the samples of all ranks; every rank calls it.
  template <class In, class Targets> Evaluation evaluate(In const& in, Targets const& targets) {
    // What is refused is refused before ranks send anything.
    Evaluator::Bind::check_targets(targets);
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    BoundTensors const wanted = evaluation_.bind(targets, inputs.batch);
    synchronize();
    auto const sums = evaluation_.evaluate(exec_, inputs, wanted, communication_);
    evaluation_.refuse_labels(exec_, sums.wrong_labels);
    return {sums.value / sums.samples, sums.correct / sums.samples, long(sums.samples),
            sums.samples};
  }

  /// All ranks take over weights, running statistics, the optimizer's state and the step count of
  /// one of them, such as one that has loaded a file; every rank calls it.
  ///
  /// errors   run: accumulated micro-batches, whose gradients are those of other weights -> Error
  void broadcast(int root = 0) {
    detail::refuse_accumulated(*this, "broadcast");
    broadcast_training<C>(exec_, model_, optimizer_, communication_, root, [this] {
      static_cast<void>(this);  // a policy without weights to send needs nothing
      if constexpr (ExchangesWeights<C>) communication_.synchronize(exec_, trained());
    });
  }

  /// Makes weights and running statistics of all ranks equal, under any policy; every rank calls
  /// it. Call it before saving; `evaluate` calls it too.
  void synchronize() {
    if constexpr (compares_ranks<C>) compare_if_changed();
    if constexpr (ExchangesWeights<C> || SharesParameters<C>) {
      communication_.synchronize(exec_, trained());
      model_.forget_forward();
    }
    average_buffers();
  }

  /// For checkpoints: what a policy reads and writes.
  TrainedState<accumulate, typename P::storage> trained() const {
    return {model_.master().data(),      model_.parameters().data(),      model_.gradients().data(),
            ModelType::nodes.arena_size, optimizer_.state().data(),       Rule::states,
            model_.buffers().data(),     ModelType::nodes.statistics_size};
  }

 private:
  // Forward, losses and backward. Returns the number of samples.
  template <class In, class Targets> int pass(In const& in, Targets const& targets, bool sends) {
    part_.begin(whole_step ? StepPart::whole : StepPart::forward);
    Evaluator::Bind::check_targets(targets);
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    BoundTensors const wanted = evaluation_.bind(targets, inputs.batch);
    model_.check_batch(inputs.batch);
    seen_ += inputs.batch;
    model_.begin_training_pass(exec_, first_sample(inputs.batch), accumulated_.parts() > 0);
    accumulate* const gradients = model_.gradients().data();
    BucketSender<AllBuckets, space, accumulate, C> sender{
        exec_, gradients, ModelType::gradient_size, communication_, 0, &accumulated_, sends};
    if constexpr (whole_step) {
      evaluation_.whole_step(exec_, inputs, wanted);
      for (int k = 0; k < AllBuckets::count; ++k) sender(AllBuckets::table.begin[k]);
    } else {
      auto forward =
          model_.template forward_pass<Phase::training>(exec_, inputs.batch, communication_);
      take_inputs(forward, inputs);
      forward.run_all();
      evaluation_.losses(exec_, forward, wanted);
      part_.begin(StepPart::backward);
      auto backward = model_.backward_pass(exec_, inputs.batch, communication_, false, sender);
      backward.placed = forward.placed;
      backward.run_all();
    }
    return inputs.batch;
  }
  void forget_accumulated() {
    accumulated_.clear();
    samples_ = 0;
  }
  // Before anything is averaged: else numbers that one rank has loaded would be lost.
  void compare_if_changed() {
    if (communication_.size() == 1) return;
    double changes[] = {model_.has_changed_weights() ? 1.0 : 0.0};
    evaluation_.sum_over_ranks(exec_, communication_, changes);
    if (changes[0] > 0) compare_ranks<C>(exec_, model_, optimizer_, communication_, false);
  }
  // Running statistics become their mean over the ranks, each with the share of samples that it has
  // seen: those of a rank without samples are what they were at first.
  void average_buffers() {
    if (communication_.size() == 1 || ModelType::nodes.statistics_size == 0 ||
        ModelType::has_common_buffers)
      return;
    double samples[] = {double(seen_)};
    evaluation_.sum_over_ranks(exec_, communication_, samples);
    double const share =
        samples[0] > 0 ? double(seen_) / samples[0] : 1 / double(communication_.size());
    Kokkos::parallel_for(model_.name() + "/average buffers",
                         Kokkos::RangePolicy<space>(exec_, 0, ModelType::nodes.statistics_size),
                         ScaleBuffers{model_.buffers().data(), float(share)});
    communication_.sum(exec_, model_.buffers().data(), ModelType::nodes.statistics_size);
  }
  // Where this rank's samples stand among those that random masks are drawn for.
  std::uint64_t first_sample(int batch) {
    if constexpr (!Evaluator::draws)
      return 0;
    else if constexpr (ExchangesWeights<C>)
      return std::uint64_t(communication_.first_sample(batch));
    else
      return std::uint64_t(communication_.exclusive_sum(batch));
  }

  GradientSum<accumulate, space> accumulated_{model_.name() + "/accumulated gradients",
                                              ModelType::gradient_size};
  long samples_ = 0;  // of the micro-batches
  long seen_ = 0;     // samples of all passes
};

}  // namespace phyllo::inline PHYLLO_ISA

// Included so that the Reproducible specialisation is always visible.
#include <phyllo/train/reproducible_trainer.hpp>

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/train/reproducible_step.hpp>
#include <phyllo/train/trainer.hpp>

namespace phyllo {

/// Whether a batch normalisation of the network averages over the samples of all ranks.
template <class Net>
inline constexpr bool has_global_statistics = [] {
  for (Node const& n : Net::program::nodes.node)
    if (n.global_statistics) return true;
  return false;
}();

/// The trainer of an Execution with Reproducible: the same bits for any number of threads and
/// ranks, of steps, losses, running statistics and evaluations, at a fixed global batch.
///
/// options  C: Local, or a ShardCommunication such as TreeReduce<Mpi>; the others as in Trainer
/// errors   as in Trainer; a global batch that ranks have split otherwise than reproducible_range
///          says -> Error, the same on all ranks
/// numerics docs/60_communication.md
/// cost     twelve small batches instead of one for each thread; a network of one narrow segment
///          computes them side by side
template <class Net, class L, class Rule, Precision P, Communication C, class Exec>
  requires(Exec::shards > 0)
class Trainer<Net, L, Rule, P, C, Exec> {
  static constexpr bool moves_shards = ShardCommunication<C>;  // shorter errors than the concept's
  static_assert(moves_shards,
                "Trainer: sums over ranks in the order of this communication policy depend on the "
                "number of ranks, which Reproducible excludes. Take TreeReduce<T>, or Local.");
  static_assert(
      !has_global_statistics<Net>,
      "Reproducible: BatchNorm<Statistics::Global> adds over all samples in the middle of "
      "a step. Take BatchNorm<>, whose statistics are then those of a shard.");

 public:
  using ModelType = Model<Net, P, Exec>;
  using communication_type = C;
  using space = typename Exec::space;
  using accumulate = typename P::accumulate;
  using Evaluator = LossEvaluation<ModelType, typename detail::LossTerms<L>::type>;
  static constexpr bool whole_step = runs_whole_steps<Net, P, Exec>() && Evaluator::terms == 1;

  Trainer(space const& exec, Rule const& rule, ModelOptions const& options = {},
          OptimizerOptions const& optimizer = {})
    requires std::is_default_constructible_v<C>
      : Trainer(exec, C{}, rule, options, optimizer) {}
  template <class Communicator>
  Trainer(space const& exec, Communicator&& communicator, Rule const& rule,
          ModelOptions const& options = {}, OptimizerOptions const& optimizer = {})
      : exec_(exec),
        model_(exec, options),
        communication_(std::forward<Communicator>(communicator)),
        optimizer_(exec, model_, rule, optimizer),
        evaluation_(exec, model_, whole_step),
        step_(exec, model_, evaluation_, communication_, whole_step) {}

  Trainer(Trainer const&) = delete;
  Trainer& operator=(Trainer const&) = delete;

  /// One step on this rank's samples of the global batch: those of reproducible_range.
  template <class In, class Targets> void step(In const& in, Targets const& targets) {
    Kokkos::Profiling::pushRegion(step_label_);
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    BoundTensors const wanted = evaluation_.bind(targets, inputs.batch);
    model_.check_batch(inputs.batch);
    step_.template run<whole_step>(exec_, inputs, wanted);
    optimizer_.update(exec_, model_);
    Kokkos::Profiling::popRegion();
  }

  /// As in Trainer.
  template <class In, class Targets>
  CapturedStep<Trainer, In, Targets> capture(In const& in, Targets const& targets) {
    return CapturedStep<Trainer, In, Targets>(*this, in, targets);
  }

  /// Mean loss of the last step over all ranks; waits for it.
  double loss() const { return mean_loss(exec_, model_); }

  /// Loss and accuracy in inference mode, over the samples of all ranks, split as batches are;
  /// every rank calls it.
  template <class In, class Targets> Evaluation evaluate(In const& in, Targets const& targets) {
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    auto const sums = step_.evaluate(exec_, inputs, evaluation_.bind(targets, inputs.batch));
    return {sums.value / sums.samples, sums.hits / sums.samples, long(sums.samples)};
  }

  /// All ranks have the same weights and running statistics at any time: nothing is left to do.
  void synchronize() {}
  void average_buffers() {}
  void progress() { communication_.progress(); }

  ModelType& model() { return model_; }
  ModelType const& model() const { return model_; }
  Optimizer<Rule, ModelType>& optimizer() { return optimizer_; }
  C& communication() { return communication_; }
  space const& exec() const { return exec_; }

 private:
  space exec_;
  ModelType model_;
  std::string step_label_ = model_.name() + "/step";
  C communication_;
  Optimizer<Rule, ModelType> optimizer_;
  Evaluator evaluation_;
  ReproducibleStep<ModelType, Evaluator, C> step_;
};

}  // namespace phyllo

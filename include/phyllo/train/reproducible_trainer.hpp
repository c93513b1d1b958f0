// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/train/reproducible_step.hpp>
#include <phyllo/train/trainer.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a batch normalisation of the network averages over the samples of all ranks.
template <class Net>
inline constexpr bool has_global_statistics = [] {
  for (Node const& n : Net::program::nodes.node)
    if (n.global_statistics) return true;
  return false;
}();

/// The trainer of an Execution with Reproducible: steps, losses, running statistics and evaluations
/// are bitwise equal for any number of threads and ranks, at a fixed global batch.
///
/// options  C: Local, or a ShardCommunication such as TreeReduce<Mpi>; the others as in Trainer
/// threads  as Trainer
/// errors   as in Trainer; a global batch that is not split by reproducible_range -> Error, the
///          same on all ranks
/// numerics docs/60_communication.md
/// cost     twelve small batches instead of one for each thread; a network of one narrow segment
///          computes them in parallel
template <ComposedNetwork Net, class L, UpdateRule Rule, Precision P, Communication C,
          ExecutionChoice Exec>
  requires(Exec::shards > 0)
class Trainer<Net, L, Rule, P, C, Exec> : public TrainingParts<Net, L, Rule, P, C, Exec> {
  using Parts = TrainingParts<Net, L, Rule, P, C, Exec>;
  using Parts::communication_, Parts::evaluation_, Parts::exec_, Parts::model_, Parts::optimizer_;
  using Parts::part_, Parts::step_label_, Parts::steps_;
  static constexpr bool moves_shards = ShardCommunication<C>;  // shorter errors than the concept's
  static_assert(moves_shards,
                "Trainer: with this communication policy the order of sums depends on the number "
                "of ranks, which Reproducible does not allow. Use TreeReduce<T>, or Local.");
  static_assert(!has_global_statistics<Net>,
                "Reproducible: BatchNorm<Statistics::Global> adds over all samples in the middle "
                "of a step. Use BatchNorm<>, whose statistics are then those of a shard.");

 public:
  using Parts::whole_step;
  using typename Parts::Evaluator, typename Parts::ModelType, typename Parts::space;

  Trainer(space const& exec, Rule const& rule, ModelOptions const& options = {},
          OptimizerOptions const& optimizer = {})
    requires std::is_default_constructible_v<C>
      : Trainer(exec, C{}, rule, options, optimizer) {}
  template <class Communicator>
  Trainer(space const& exec, Communicator&& communicator, Rule const& rule,
          ModelOptions const& options = {}, OptimizerOptions const& optimizer = {})
      : Parts(exec, std::forward<Communicator>(communicator), rule, options, optimizer),
        step_(exec, model_, evaluation_, communication_, whole_step) {}

  Trainer(Trainer const&) = delete;  // Trainer: its parts refer to each other.
  Trainer& operator=(Trainer const&) = delete;

  /// One step on this rank's samples of the global batch, those of reproducible_range, and on the
  /// micro-batches before it.
  template <class In, class Targets> void step(In const& in, Targets const& targets) try {
    ++steps_;
    Kokkos::Profiling::ScopedRegion const region(step_label_);
    pass(in, targets, false);
    part_.begin(StepPart::update);
    optimizer_.update(exec_, model_);
    part_.end();
  } catch (...) {
    step_.forget_accumulated();
    this->fail();
  }

  /// As in Trainer, with micro-batches that are split as batches are; all ranks accumulate equally
  /// often.
  ///
  /// numerics sums of each shard over the micro-batches, then of shards; running statistics are the
  ///          mean over the shards of all of them
  template <class In, class Targets>
  void accumulate_gradients(In const& in, Targets const& targets) try {
    Kokkos::Profiling::ScopedRegion const region(step_label_);
    pass(in, targets, true);
    part_.end();
  } catch (...) {
    step_.forget_accumulated();
    this->fail();
  }
  /// Micro-batches that the next step adds to its own.
  int accumulated() const { return step_.accumulated(); }

  /// As in Trainer.
  template <class In, class Targets>
  CapturedStep<Trainer, In, Targets> capture(In const& in, Targets const& targets) {
    return CapturedStep<Trainer, In, Targets>(*this, in, targets);
  }

  /// Loss and accuracy in inference mode, over the samples of all ranks, split as batches are;
  /// every rank calls it.
  template <class In, class Targets> Evaluation evaluate(In const& in, Targets const& targets) {
    Evaluator::Bind::check_targets(targets);
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    if (step_.split(inputs.batch)) compare_ranks<C>(exec_, model_, optimizer_, this->sums(), false);
    auto const sums = step_.evaluate(exec_, inputs, evaluation_.bind(targets, inputs.batch));
    evaluation_.refuse_labels(exec_, sums.wrong_labels);
    return {sums.value / sums.samples, sums.correct / sums.samples, long(sums.samples),
            sums.samples};
  }

  /// As in Trainer.
  void broadcast(int root = 0) {
    detail::refuse_accumulated(*this, "broadcast");
    broadcast_training<C>(exec_, model_, optimizer_, this->sums(), root, [] {});
  }

  /// All ranks have the same weights and running statistics at any time: nothing is left to do.
  void synchronize() {}

 private:
  template <class In, class Targets> void pass(In const& in, Targets const& targets, bool is_part) {
    part_.begin(StepPart::shards);
    Evaluator::Bind::check_targets(targets);
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    BoundTensors const wanted = evaluation_.bind(targets, inputs.batch);
    model_.check_batch(inputs.batch);
    if (step_.split(inputs.batch)) compare_ranks<C>(exec_, model_, optimizer_, this->sums(), false);
    step_.template run<whole_step>(exec_, inputs, wanted, is_part);
  }

  ReproducibleStep<ModelType, Evaluator, C> step_;
};

}  // namespace phyllo::inline PHYLLO_ISA

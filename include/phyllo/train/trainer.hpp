// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/version.hpp>
#include <phyllo/loss/losses.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/policy/agreement.hpp>
#include <phyllo/policy/rank_failure.hpp>
#include <phyllo/train/buckets.hpp>
#include <phyllo/train/captured_step.hpp>
#include <phyllo/train/loss_evaluation.hpp>
#include <phyllo/train/optimizer.hpp>

namespace phyllo {

/// What a loss says of a set of samples of all ranks.
struct Evaluation {
  double loss = 0;      // mean over samples
  double accuracy = 0;  // share of positions whose class is right; 0 without class numbers
  long samples = 0;
};

/// A model, a loss, an optimizer and the ranks that train together.
///
/// options  Net · L: a loss or Losses<...> · Rule: Sgd, Adam · P: precision · C: communication ·
///          Exec: execution space, backends, fusion
/// errors   run: wrong extents or a batch larger than ModelOptions::batch -> Error; making it:
/// ranks
///          that differ in network, precision, loss, rule, policy, seed or version of Phyllo ->
///          Error on all. With several ranks, errors of a step name it and its phase; other ranks
///          late, gone or dead -> RankFailure.
/// numerics the gradient is the mean over the samples of all ranks, however uneven their batches
/// cost     forward, loss, backward and update; one pass where the network is one narrow segment
template <class Net, class L, class Rule, Precision P = Full<float>, Communication C = Local,
          class Exec = Execution<>>
class Trainer {
 public:
  using ModelType = Model<Net, P, Exec>;
  using communication_type = C;
  using space = typename Exec::space;
  using accumulate = typename P::accumulate;
  using Evaluator = LossEvaluation<ModelType, typename detail::LossTerms<L>::type>;
  using AllBuckets = Buckets<Net, C::bucket_bytes, int(sizeof(accumulate))>;
  /// Whether a step is one pass over the batch: then all gradients are complete at once.
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
        optimizer_(exec, model_, rule, optimizer, share()),
        evaluation_(exec, model_, whole_step) {
    if (communication_.size() > 1)
      agree(exec_, communication_, model_.name(), agreement(rule, options));
    communication_.reserve(exec, long(sizeof(accumulate)) * ModelType::gradient_size);
    if constexpr (ExchangesWeights<C> || SharesParameters<C>)
      communication_.prepare(exec, trained());
  }

  // Its parts refer to each other.
  Trainer(Trainer const&) = delete;
  Trainer& operator=(Trainer const&) = delete;

  /// One step on this rank's batch; asynchronous but for the transfers. Ranks may have batches of
  /// different sizes, empty ones as well.
  template <class In, class Targets> void step(In const& in, Targets const& targets) try {
    ++steps_;
    phase_ = "forward pass";
    Kokkos::Profiling::pushRegion(step_label_);
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    BoundTensors const wanted = evaluation_.bind(targets, inputs.batch);
    model_.check_batch(inputs.batch);
    model_.begin_training_pass(exec_, first_sample(inputs.batch));
    accumulate* const gradients = model_.gradients().data();
    BucketSender<AllBuckets, space, accumulate, C> sender{exec_, gradients,
                                                          ModelType::gradient_size, communication_};
    if constexpr (whole_step) {
      evaluation_.whole_step(exec_, inputs, wanted);
      for (int k = 0; k < AllBuckets::count; ++k) sender(AllBuckets::table.begin[k]);
    } else {
      auto forward =
          model_.template forward_pass<Phase::training>(exec_, inputs.batch, communication_);
      model_.load(forward, inputs);
      forward.run_all();
      evaluation_.losses(exec_, forward, wanted);
      phase_ = "backward pass";
      model_.backward_pass(exec_, inputs.batch, communication_, false, sender).run_all();
    }
    phase_ = "sum of gradients";
    communication_.finish(exec_);
    phase_ = "update";
    optimizer_.update(exec_, model_, communication_);
    phase_ = "exchange of weights";
    if constexpr (ExchangesWeights<C>) communication_.exchange(exec_, trained(), inputs.batch);
    if constexpr (SharesParameters<C>) communication_.gather(exec_, trained());
    Kokkos::Profiling::popRegion();
  } catch (RankFailure const& failure) {
    throw RankFailure(place() + failure.what(), failure.ranks());
  } catch (Error const& error) {
    throw Error(place() + error.what());
  }

  /// Steps on these Views again and again, by `replay()`: on CUDA and HIP one launch of a graph
  /// each. Step once before, so that everything is allocated.
  template <class In, class Targets>
  CapturedStep<Trainer, In, Targets> capture(In const& in, Targets const& targets) {
    return CapturedStep<Trainer, In, Targets>(*this, in, targets);
  }

  /// Mean loss of the last step over all ranks; waits for it.
  double loss() const { return mean_loss(exec_, model_); }

  /// Loss and accuracy in inference mode, over the samples of all ranks; every rank calls it.
  template <class In, class Targets> Evaluation evaluate(In const& in, Targets const& targets) {
    synchronize();
    BoundTensors const inputs = ModelType::AllPorts::template bind_inputs<space>(in, model_.name());
    auto const sums = evaluation_.evaluate(exec_, inputs, evaluation_.bind(targets, inputs.batch),
                                           communication_);
    return {sums.value / sums.samples, sums.hits / sums.samples, long(sums.samples)};
  }

  /// All ranks hold the same weights and running statistics, whatever the policy; every rank calls
  /// it: before saving, and `evaluate` does.
  void synchronize() {
    if constexpr (ExchangesWeights<C> || SharesParameters<C>)
      communication_.synchronize(exec_, trained());
    average_buffers();
  }

  /// Running statistics become their mean over the ranks.
  void average_buffers() {
    if (communication_.size() == 1 || ModelType::nodes.buffer_size == 0) return;
    communication_.sum(exec_, model_.buffers().data(), ModelType::nodes.buffer_size);
    Kokkos::parallel_for(
        model_.name() + "/average buffers",
        Kokkos::RangePolicy<space>(exec_, 0, ModelType::nodes.buffer_size),
        ScaleBuffers{model_.buffers().data(), 1.0f / float(communication_.size())});
  }

  /// Moves messages along while the caller computes something else.
  void progress() { communication_.progress(); }

  ModelType& model() { return model_; }
  ModelType const& model() const { return model_; }
  Optimizer<Rule, ModelType>& optimizer() { return optimizer_; }
  Optimizer<Rule, ModelType> const& optimizer() const { return optimizer_; }
  C& communication() { return communication_; }
  space const& exec() const { return exec_; }
  /// Calls of `step` so far, as messages count them.
  long steps() const { return steps_; }
  void count_steps_from(long steps) { steps_ = steps; }

 private:
  // Where this rank's samples stand among those that random masks are drawn for.
  std::uint64_t first_sample(int batch) {
    if constexpr (!Evaluator::draws)
      return 0;
    else if constexpr (ExchangesWeights<C>)
      return std::uint64_t(communication_.first_sample(batch));
    else
      return std::uint64_t(communication_.exclusive_sum(batch));
  }
  std::pair<long, long> share() const {
    if constexpr (SharesParameters<C>) return communication_.share(ModelType::nodes.arena_size);
    return {0, ModelType::nodes.arena_size};
  }
  TrainedState<accumulate, typename P::storage> trained() const {
    return {model_.master().data(),      model_.parameters().data(),  model_.gradients().data(),
            ModelType::nodes.arena_size, optimizer_.state().data(),   Rule::states,
            model_.buffers().data(),     ModelType::nodes.buffer_size};
  }
  static Agreement agreement(Rule const& rule, ModelOptions const& options) {
    Agreement a;
    a.add("Phyllo", version);
    a.add("network", type_name<Net>());
    a.add("layers", Agreement::hash(type_name<typename Net::program>()));
    a.add("parameters", std::to_string(Net::parameter_count));
    a.add("precision", type_name<P>());
    a.add("loss", type_name<L>());
    a.add("communication", type_name<C>());
    a.add("buckets", std::to_string(AllBuckets::count));
    a.add("rule", Rule::name);
    a.add("rate", double(rule.rate));
    a.add("seed", std::to_string(options.seed));
    return a;
  }
  // One rank has nobody to be told apart from.
  std::string place() const {
    if (communication_.size() == 1) return "";
    return model_.name() + " on rank " + std::to_string(communication_.rank()) + ", step " +
           std::to_string(steps_) + ", " + phase_ + ": ";
  }

  space exec_;
  ModelType model_;
  std::string step_label_ = model_.name() + "/step";
  C communication_;  // behind the model: it waits for what is in flight before the gradients go
  Optimizer<Rule, ModelType> optimizer_;
  Evaluator evaluation_;
  long steps_ = 0;
  char const* phase_ = "";
};

}  // namespace phyllo

// Trainer under Reproducible, which nobody shall miss by including this file alone.
#include <phyllo/train/reproducible_trainer.hpp>

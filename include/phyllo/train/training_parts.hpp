// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/version.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/policy/agreement.hpp>
#include <phyllo/policy/rank_failure.hpp>
#include <phyllo/policy/shard_communication.hpp>
#include <phyllo/train/broadcast.hpp>
#include <phyllo/train/buckets.hpp>
#include <phyllo/train/loss_evaluation.hpp>
#include <phyllo/train/optimizer.hpp>
#include <phyllo/train/running_part.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// The result of a loss over a set of samples of all ranks.
struct Evaluation {
  double loss = 0;  // mean over samples
  // Share of positions whose class is right, of the first loss with class indices; 0 without one.
  double accuracy = 0;
  long samples = 0;   // rounded down where a loss ignores positions
  double weight = 0;  // what the means are divided by: samples, or the shares that the loss counts
};

/// A model, a loss, an optimizer and the ranks that train together: the common part of all
/// Trainers, which define what a step is.
///
/// options  as in Trainer
/// errors   at construction: ranks that differ in network, precision, loss, rule, policy, seed or
///          version of Phyllo -> Error on all
template <class Net, class L, class Rule, Precision P, Communication C, class Exec>
class TrainingParts {
 public:
  using ModelType = Model<Net, P, Exec>;
  using communication_type = C;
  using space = typename Exec::space;
  using accumulate = typename P::accumulate;
  using Evaluator = LossEvaluation<ModelType, typename detail::LossTerms<L>::type>;
  static_assert(Evaluator::names_outputs(),
                "Losses: On<tag, Loss> names an output that the network does not have. Use the "
                "names of its Output<tag>.");
  static_assert(Evaluator::has_one_loss_per_output(),
                "Losses: one output has two losses, and another has none. Use one On<tag, Loss> "
                "for each Output<tag> of the network.");
  // Not in the evaluator: Clang has more errors behind one in the class of a member.
  static_assert(Evaluator::ignores_alone(),
                "Losses: a loss that ignores a class index is the only one of a Trainer, because "
                "its mean is over the positions that count. Use CrossEntropy beside other losses.");
  static_assert(
      Evaluator::has_equal_parts(),
      "Losses: the loss reads the channels of its output in equal parts, such as means and "
      "variances. Give the output a multiple of their number.");
  using AllBuckets = Buckets<Net, C::bucket_bytes, int(sizeof(accumulate))>;
  /// Whether a step is one pass over the batch: then all gradients are complete at once.
  static constexpr bool whole_step = runs_whole_steps<Net, P, Exec>() && Evaluator::terms == 1;

  // Its parts refer to each other.
  TrainingParts(TrainingParts const&) = delete;
  TrainingParts& operator=(TrainingParts const&) = delete;

  /// Blocks. Returns the mean loss of the last step over all ranks; under policies that exchange
  /// weights over this rank's samples. Not a number before the first step. Throws Error if class
  /// indices were outside of their range in a step since the last message about them.
  double loss() const { return evaluation_.mean_loss(exec_); }

  /// Replaces the loss, or that of the output Tag, from the next step on: a loss may have members,
  /// such as a width or class weights. A captured step is refused afterwards.
  ///
  /// state    not in checkpoints; pass equal losses on all ranks
  /// errors   compile: another type than the Trainer's, or a Tag without a loss · run: those of the
  ///          loss
  template <class Tag = detail::TheOutput, class Loss> void set_loss(Loss const& loss) {
    if constexpr (requires { loss.check(model_.name(), Shape{}); }) {
      constexpr bool only = std::is_same_v<Tag, detail::TheOutput>;
      using Ports = typename ModelType::AllPorts;
      loss.check(model_.name(), Ports::output_shape(only ? 0 : Ports::template output_of<Tag>()));
    }
    evaluation_.template set_loss<Tag>(loss);
    ++losses_set_;
  }
  /// For captured steps, which have recorded them: another number whenever losses, groups or frozen
  /// tensors are set.
  long choice_changes() const { return losses_set_ + optimizer_.choice_changes(); }

  /// From the next step on, `rate` takes the place of the rule's; see Optimizer::set_rate.
  void set_rate(double rate) { optimizer_.set_rate(exec_, model_, rate); }
  /// From the next step on, the selected tensors have a rate and a decay of their own:
  /// set_group(ParameterSelection::biases_and_norms(), {.weight_decay = 0}); see
  /// Optimizer::set_group.
  void set_group(ParameterSelection const& which, ParameterGroup const& group) {
    optimizer_.set_group(exec_, which, group);
    model_.compare_in_next_step();
  }
  /// From the next step on, leaves the selected tensors as they are, or updates them again:
  /// set_frozen(ParameterSelection::up_to<encoder>()); see Optimizer::set_frozen.
  void set_frozen(ParameterSelection const& which, bool frozen = true) {
    optimizer_.set_frozen(exec_, which, frozen);
    model_.compare_in_next_step();
  }
  /// The learning rate of the last step, after the schedule. Blocks.
  double learning_rate() const { return optimizer_.learning_rate(exec_, model_); }

  /// Advances messages while the caller computes something else.
  void progress() { communication_.progress(); }

  ModelType& model() { return model_; }
  ModelType const& model() const { return model_; }
  Optimizer<Rule, ModelType>& optimizer() { return optimizer_; }
  Optimizer<Rule, ModelType> const& optimizer() const { return optimizer_; }
  C& communication() { return communication_; }
  /// What adds a few numbers of all ranks: shards are added by trees of their own, all else by
  /// whatever moves them.
  auto& sums() {
    if constexpr (ShardCommunication<C> && !std::is_same_v<C, Local>)
      return communication_.transport();
    else
      return communication_;
  }
  space const& exec() const { return exec_; }
  /// Calls of `step` so far, as messages count them.
  long steps() const { return steps_; }
  void count_steps_from(long steps) { steps_ = steps; }

 protected:
  template <class Communicator>
  TrainingParts(space const& exec, Communicator&& communicator, Rule const& rule,
                ModelOptions const& options, OptimizerOptions const& optimizer)
      : exec_(exec),
        model_(exec, options),
        communication_(agreed(std::forward<Communicator>(communicator), rule, options, optimizer)),
        optimizer_(exec, model_, rule, optimizer, share()),
        evaluation_(exec, model_, whole_step) {
    if constexpr (!agrees_first<Communicator>)
      agree(exec_, sums(), model_.name(), agreement(rule, options, optimizer));
  }
  ~TrainingParts() = default;

  /// Called when a step has failed: adds step and part to the error.
  [[noreturn]] void fail() {
    part_.end();
    try {
      throw;
    } catch (RankFailure const& failure) {
      throw RankFailure(place() + failure.what(), failure.ranks());
    } catch (Error const& error) {
      throw Error(place() + error.what());
    }
  }

  space exec_;
  ModelType model_;
  std::string step_label_ = model_.name() + "/step";
  C communication_;  // behind the model: it waits for what is in flight before the gradients go
  Optimizer<Rule, ModelType> optimizer_;
  Evaluator evaluation_;
  long steps_ = 0;
  long losses_set_ = 0;
  RunningPart part_;

 private:
  using Transport = typename InnermostTransport<C>::type;
  // A policy is made from its transport where it can be, and from the caller's communicator else.
  template <class From>
  static constexpr bool takes_transport =
      !std::is_same_v<Transport, C> && std::constructible_from<Transport, From> &&
      std::constructible_from<C, Transport>;
  template <class From>
  static constexpr bool agrees_first =
      takes_transport<From> ||
      (!std::is_same_v<Transport, C> &&
       std::constructible_from<Transport, std::remove_cvref_t<From> const&>);

  // The policy, once ranks have compared what they are about to train over its transport alone: to
  // make a policy takes calls that only ranks with the same one make.
  template <class From>
  C agreed(From&& from, Rule const& rule, ModelOptions const& options,
           OptimizerOptions const& optimizer) const {
    if constexpr (takes_transport<From>) {
      Transport transport(std::forward<From>(from));
      agree(exec_, transport, model_.name(), agreement(rule, options, optimizer));
      return C(std::move(transport));
    } else {
      if constexpr (agrees_first<From>) {
        Transport transport(std::as_const(from));
        agree(exec_, transport, model_.name(), agreement(rule, options, optimizer));
      }
      return C(std::forward<From>(from));
    }
  }
  std::pair<long, long> share() const {
    if constexpr (SharesParameters<C>) return communication_.share(ModelType::nodes.arena_size);
    return {0, ModelType::nodes.arena_size};
  }
  static Agreement agreement(Rule const& rule, ModelOptions const& options,
                             OptimizerOptions const& optimizer) {
    Agreement a;
    a.add("Phyllo", version);
    a.add("network", type_name<Net>());
    a.add("layers", Agreement::hash(type_name<typename Net::program>()));
    a.add("parameters", std::to_string(Net::parameter_count));
    a.add("precision", type_name<P>());
    a.add("loss", type_name<L>());
    a.add("communication", type_name<C>());
    a.add("shards", std::to_string(Exec::shards));
    a.add("buckets", std::to_string(AllBuckets::count));
    a.add("rule", Rule::name);
    a.add("rate", double(rule.rate));
    a.add("options of the rule", options_text(rule));
    a.add("largest norm", optimizer.clipping.largest_norm);
    a.add("largest value", optimizer.clipping.largest_value);
    if (P::scales_loss) {
      a.add("initial loss scale", double(optimizer.scaling.initial));
      a.add("interval of the loss scale", double(optimizer.scaling.interval));
    }
    a.add("seed", std::to_string(options.seed));
    return a;
  }
  // A single rank needs no number in messages.
  std::string place() const {
    if (communication_.size() == 1) return "";
    return model_.name() + " on rank " + std::to_string(communication_.rank()) + ", step " +
           std::to_string(steps_) + ", " + part_.name() + ": ";
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/team_policy.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/train/adam.hpp>
#include <phyllo/train/compare_ranks.hpp>
#include <phyllo/train/group_updates.hpp>
#include <phyllo/train/measure_by_team.hpp>
#include <phyllo/train/optimizer_options.hpp>
#include <phyllo/train/own_steps.hpp>
#include <phyllo/train/parameter_selection.hpp>
#include <phyllo/train/rule_options.hpp>
#include <phyllo/train/sgd.hpp>

#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// An update rule with its state, over the flat arena of one model.
///
/// options  Rule: Sgd, Adam, or one of your own (update_rule.hpp); one that reads_tensors
///          (rule_tensor.hpp) has groups and numbers of tensors too · scaling · clipping
/// state    Rule::states numbers per parameter, in Precision::accumulate, and behind them
///          Rule::tensor_numbers per tensor. Steps, rate and loss scale are in the model's
///          StepState, which a new optimizer begins anew: a model has one at a time, the last
/// threads  one thread at a time, and none calls the model or its sessions meanwhile
/// errors   run: options of the rule outside of their ranges, a largest norm or value that is not
///          above zero, no room in memory; a step of another model, or once a later optimizer of
///          the model has begun -> Error. A step with an infinite or undefined gradient is skipped
///          on all ranks; but ranks with weights of their own in Full precision skip it alone,
///          because agreement would cost one message a step
/// numerics gradients are divided by the loss scale and by the number of samples of all ranks, then
///          clipped; the sums of the norm are over fixed blocks: their bits are those of one
///          thread. So are sums over tensors; where ranks share parameters, a tensor may be split,
///          and its sums are those of all ranks.
/// cost     two passes: one reads the gradients, for their norm and whether they are finite; the
///          other is the rule's. One thread processes a small arena alone, where starting others
///          costs more; on a device each pass is one kernel, and the host waits for neither. Sums
///          over tensors are two kernels more, and one message where ranks share parameters.
template <class Rule, class M> class Optimizer {
 public:
  using space = typename M::space;
  using accumulate = typename M::accumulate;
  using storage = typename M::storage;

  /// share: the parameters that this rank updates, from the first to behind the last.
  Optimizer(space const& exec, M const& model, Rule const& rule,
            OptimizerOptions const& options = {}, std::pair<long, long> share = {0, size})
      : rule_(rule),
        options_(options),
        label_(model.name() + "/" + Rule::name),
        first_(share.first),
        count_(share.second - share.first),
        blocks_(int((count_ + block - 1) / block)),
        steps_(model, label_),
        frozen_(share),
        tensors_(exec, label_, rule, share, block),
        state_(room<decltype(state_)>(
            exec, " state", count_ * Rule::states + long(Tensors::table.size) * Tensors::numbers)),
        squares_(room<decltype(squares_)>(exec, " norm", blocks_)),
        finite_(room<decltype(finite_)>(exec, " check", blocks_ + 1)),
        totals_(room<decltype(totals_)>(exec, " totals", 2)) {
    model.require_training(Rule::name);
    if (!(options.clipping.largest_norm > 0))
      throw Error(label_ + ": the largest norm of the gradient must be above 0, but it is " +
                  std::to_string(options.clipping.largest_norm) +
                  ". Leave Clipping out for no clipping.");
    if (!(options.clipping.largest_value > 0))
      throw Error(label_ + ": the largest value of the gradient must be above 0, but it is " +
                  std::to_string(options.clipping.largest_value) +
                  ". Leave Clipping out for no clipping.");
    check_options(rule, label_);
    Kokkos::parallel_for(
        label_, Kokkos::RangePolicy<space>(exec, 0, 1),
        BeginSteps{model.state().data(),
                   M::precision::scales_loss ? float(options.scaling.initial) : 1.0f});
    number_ = model.begin_optimizer();
  }

  Optimizer(Optimizer&&) = default;
  Optimizer& operator=(Optimizer&&) = default;
  Optimizer(Optimizer const&) = delete;  // Optimizer: a copy would share its state.
  Optimizer& operator=(Optimizer const&) = delete;

  /// For a training loop of your own: sums the gradients over the ranks, then updates.
  template <class C = Local> void step(space const& exec, M& model, C&& communication = {}) {
    using Policy = std::remove_cvref_t<C>;
    static_assert(!ExchangesWeights<Policy> && !SharesParameters<Policy>,
                  "Optimizer::step: this communication policy exchanges weights, which only a "
                  "Trainer does. Use a Trainer, or another policy.");
    if constexpr (rounds_on_the_wire<Policy>) {
      communication.begin_counts(exec, model.gradients().data() + size, M::gradient_size - size);
      communication.begin(exec, model.gradients().data(), size);
    } else {
      communication.begin(exec, model.gradients().data(), M::gradient_size);
    }
    communication.finish(exec);
    update(exec, model, communication);
  }

  /// Updates the parameters from complete gradients. Where ranks have different gradients,
  /// `communication` makes all of them skip the same steps.
  template <class C = Local> void update(space const& exec, M& model, C&& communication = {}) {
    using Policy = std::remove_cvref_t<C>;
    using Advance =
        AdvanceState<Rule, accumulate, M::precision::scales_loss, gradients_are_late<Policy>>;
    require(model);
    model.forget_forward();  // it was of other weights
    model.follow(exec);
    if constexpr (compares_each_step<Policy, space>)
      if (communication.size() > 1 && has_change(exec, model))
        compare_ranks<Policy>(exec, model, *this, communication, true);
    clear_frozen(exec, model.gradients().data());
    StepState* const state = model.state().data();
    accumulate const* const gradients = model.gradients().data() + first_;
    accumulate* const tail = model.gradients().data() + size;
    Advance const advance{rule_,           options_.scaling, options_.clipping, state,
                          squares_.data(), finite_.data(),   blocks_,           tail};
    // Ranks agree on the norm of all shares; those with weights of their own, on whether a step in
    // mixed precision counts.
    constexpr bool is_mixed = !std::is_same_v<storage, accumulate>;
    constexpr bool agrees = SharesParameters<Policy> || (ExchangesWeights<Policy> && is_mixed);
    if constexpr (agrees) {
      measure(exec, gradients, state, tail,
              CollectMeasures<accumulate>{squares_.data(), finite_.data(), blocks_, totals_.data(),
                                          SharesParameters<Policy> ? nullptr : tail});
      constexpr long own = SharesParameters<Policy> ? 0 : 1;
      communication.sum(exec, totals_.data() + own, 2 - own);
      launch(exec, 1, AdvanceAgreed<Advance, accumulate>{advance, totals_.data()});
    } else {
      measure(exec, gradients, state, tail, advance);
    }
    if (options_.clipping.largest_value < std::numeric_limits<double>::infinity())
      launch(exec, int(count_),
             LimitGradients<accumulate>{model.gradients().data() + first_, state,
                                        options_.clipping.largest_value});
    if (steps_.count() > 0)
      launch(exec, steps_.count(), AdvanceOwnSteps<Rule>{rule_, state, steps_.data()});
    if constexpr (Tensors::numbers > 0) prepare_tensors(exec, model, communication);
    // Late gradients are not of the samples that have just changed the running statistics.
    int buffers = gradients_are_late<Policy> ? 0 : M::nodes.statistics_size;
    for (FrozenTensors::Updated const& updated : frozen_.updated()) {
      update_range(exec, model, updated, buffers);
      buffers = 0;  // the first launch has restored them
    }
  }

  /// All parameter tensors of the network, in the order of the arena.
  static constexpr auto const& tensors = RuleTensors<Rule, M>::table;
  /// For trainers: from the next step on, leaves a tensor and the rule's numbers of it as they are,
  /// without decay, or updates it again. Its gradients become zero in each step, so that neither
  /// the norm of the gradient nor the check for infinite ones contains them. Blocks.
  ///
  /// state    not in checkpoints, but for the steps that a tensor has missed; freeze equal tensors
  ///          on all ranks. A captured step is refused afterwards
  /// numerics updated again, a tensor counts its own steps: bias corrections are of its own updates
  /// errors   run: no such tensor -> Error
  /// cost     one launch for each range of tensors between frozen ones, and of those that have
  ///          missed as many steps
  void set_frozen(space const& exec, int tensor, bool frozen = true) {
    if (tensor < 0 || tensor >= tensors.size)
      throw Error(label_ + ": expected a parameter tensor from 0 to " +
                  std::to_string(tensors.size - 1) + ", got " + std::to_string(tensor) +
                  ". Count the weights and biases in the order of the layers.");
    steps_.set_frozen(exec, tensor, frozen);
    take_steps(exec);
  }
  /// The same for a selection, such as ParameterSelection::up_to<encoder>().
  void set_frozen(space const& exec, ParameterSelection const& which, bool frozen = true) {
    auto const chosen = which.among<typename M::network>(label_ + ", set_frozen");
    for (int t = 0; t < tensors.size; ++t)
      if (chosen[std::size_t(t)]) set_frozen(exec, t, frozen);
  }
  bool is_frozen(int tensor) const { return steps_.is_frozen(tensor); }
  /// For checkpoints and broadcasts: of each tensor the steps that it has missed while it was
  /// frozen, and the rule's numbers of its own last step; empty where none has missed any. Blocks.
  std::vector<double> missed_steps(space const& exec) const { return steps_.stored(exec); }
  /// Takes them over, behind the StepState of the same checkpoint. Blocks.
  void set_missed_steps(space const& exec, std::vector<double> const& numbers) {
    steps_.restore(exec, numbers);
    take_steps(exec);
  }
  static constexpr long missed_steps_size =
      long(OwnSteps<M>::stored_numbers) * RuleTensors<Rule, M>::table.size;

  /// From the next step on, the selected tensors have a rate and a decay of their own, in place of
  /// those of an earlier call. Blocks.
  ///
  /// state    as set_frozen
  /// errors   run: a selection of no tensor; numbers below zero or not finite; a decay under a rule
  ///          without one -> Error
  /// cost     any number of groups is one launch; each item reads the table of its tensors
  void set_group(space const& exec, ParameterSelection const& which, ParameterGroup const& group) {
    group.template check<Rule>(label_ + ", set_group");
    auto const chosen = which.among<typename M::network>(label_ + ", set_group");
    if (!groups_) {
      groups_ = std::make_unique<GroupUpdatesOf<Rule, M>>(
          exec, label_, rule_, FrozenTensors::Range{first_, first_ + count_}, block);
      group_of_.resize(std::size_t(tensors.size));
      groups_->set_steps(exec, steps_);
    }
    for (std::size_t t = 0; t < chosen.size(); ++t)
      if (chosen[t]) group_of_[t] = group;
    groups_->set_groups(exec, group_of_);
    ++groups_set_;
  }
  /// The group of a tensor; that of one without is ParameterGroup{}.
  ParameterGroup group_of(int tensor) const {
    return group_of_.empty() ? ParameterGroup{} : group_of_[std::size_t(tensor)];
  }
  /// For captured steps: another number whenever kernels of an update get other arguments.
  long choice_changes() const { return groups_set_ + steps_.arrangements(); }
  /// For comparisons of ranks: a hash of frozen tensors and groups; 0: there are none.
  std::uint64_t choices() const {
    std::uint64_t sum = 0;
    auto const add = [&](int what, double number) {
      auto const bits = Kokkos::bit_cast<std::uint64_t>(number);
      sum += HashNumbers<double>::mixed(bits ^ HashNumbers<double>::mixed(std::uint64_t(what)));
    };
    for (int t = 0; t < tensors.size; ++t) {
      ParameterGroup const group = group_of(t);
      if (is_frozen(t)) add(3 * t + 1, 1);
      if (steps_.missed(t) > 0) add(-t - 1, double(steps_.missed(t)));
      if (group.rate_factor != 1) add(3 * t + 2, group.rate_factor);
      if (group.weight_decay) add(3 * t + 3, *group.weight_decay);
    }
    return sum;
  }

  /// From the next step on, `rate` takes the place of the rule's, times the schedule's factor; in
  /// captured steps too. Asynchronous on exec.
  ///
  /// state    in StepState: checkpoints and broadcasts contain it
  /// errors   run: a rate below zero or not finite -> Error. Ranks with other rates than rank 0 are
  ///          refused at the next comparison
  void set_rate(space const& exec, M& model, double rate) {
    if (!(rate >= 0 && rate <= std::numeric_limits<double>::max()))
      throw Error(label_ + ": expected a finite learning rate of at least 0, got " +
                  std::to_string(rate) + ".");
    launch(exec, 1, SetRate{model.state().data(), rate});
    model.compare_in_next_step();
  }
  /// The learning rate of the last step, after the schedule. Blocks.
  double learning_rate(space const& exec, M const& model) const {
    using Host = Kokkos::View<StepState, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    StepState state;
    Kokkos::deep_copy(exec, Host(&state), model.state());
    exec.fence("phyllo: learning rate");
    return state.learning_rate;
  }

  Rule const& rule() const { return rule_; }
  /// The parameters that this rank updates, from the first to behind the last.
  std::pair<long, long> share() const { return {first_, first_ + count_}; }
  /// The rule's own numbers, Rule::states runs of the size of its share, and behind them
  /// Rule::tensor_numbers of each tensor of the network.
  typename M::template Vector<accumulate> const& state() const { return state_; }

 private:
  void require(M const& model) const {
    if (!steps_.is_of(model))
      throw Error(label_ +
                  ": expected the model that the optimizer was made for, got another one. "
                  "Make an optimizer for each model.");
    if (model.optimizers() != number_)
      throw Error(label_ +
                  ": another optimizer of the model has begun since, and the model has one "
                  "count of steps. Use the last one, with groups or frozen tensors.");
  }
  static constexpr bool on_host = Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible;
  static constexpr long size = M::nodes.arena_size;
  // Of the norm's sums: at most 1024 blocks, of whole cache lines, and none too short for vectors
  // or for a team.
  static constexpr long block = [] {
    constexpr long shortest = on_host ? 4096 : 1024;
    long const whole = (size / 1024 + 64) / 64 * 64;
    return whole > shortest ? whole : shortest;
  }();
  using Tensors = RuleTensors<Rule, M>;

  template <class V> V room(space const& exec, char const* what, long count) const {
    return allocate<V>(label_ + what, count,
                       "The rule keeps its own numbers of each parameter; policy Sharded divides "
                       "them among the ranks.",
                       exec);
  }
  // Whether the weights of a rank were changed, in the sums behind the gradients.
  static bool has_change(space const& exec, M const& model) {
    accumulate changes[1] = {};
    constexpr long at = size + op::Tail::changes;
    if constexpr (on_host) {
      changes[0] = model.gradients().data()[at];
    } else {
      using Host = Kokkos::View<accumulate*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
      Kokkos::deep_copy(exec, Host(changes, 1),
                        Kokkos::subview(model.gradients(), std::pair<long, long>(at, at + 1)));
      exec.fence("phyllo: changes of weights");
    }
    return changes[0] > accumulate(0);
  }
  template <class Finish>
  void measure(space const& exec, accumulate const* gradients, StepState const* state,
               accumulate const* tail, Finish const& finish) const {
    if constexpr (std::is_same_v<Finish, CollectMeasures<accumulate>>)
      if (blocks_ == 0) return launch(exec, 1, finish);  // more ranks than shares
    if constexpr (on_host) {
      launch(exec, blocks_,
             MeasureGradients<accumulate, 64>{gradients, state, tail, squares_.data(),
                                              finite_.data(), count_, block});
      launch(exec, 1, finish);
    } else {
      using Measure = MeasureByTeam<accumulate, Finish>;
      Kokkos::parallel_for(launch_label(label_), team_policy(exec, blocks_, Measure::team),
                           Measure{gradients, state, tail, squares_.data(), finite_.data(),
                                   finite_.data() + blocks_, count_, block, finish});
    }
  }
  void clear_frozen(space const& exec, accumulate* gradients) const {
    for (FrozenTensors::Range const& range : frozen_.frozen())
      launch(exec, int(range.second - range.first),
             LimitGradients<accumulate>{gradients + range.first});
  }
  // The rule's numbers of each tensor, from its sums over parameters and gradients.
  template <class C> void prepare_tensors(space const& exec, M const& model, C&& communication) {
    constexpr bool shares = SharesParameters<std::remove_cvref_t<C>> && Tensors::sums > 0;
    using Launches = TensorLaunches<Rule, M>;
    auto const share = own_share();
    if (groups_) {
      groups_->measure(exec, model, share);
      groups_->join(exec, model, share, shares);
    } else {
      Launches::measure(exec, model, rule_, tensors_, share);
      Launches::join(exec, model, rule_, tensors_, share, shares);
    }
    if constexpr (shares) {
      communication.sum(exec, groups_ ? groups_->totals() : tensors_.totals(),
                        long(tensors.size) * Tensors::sums);
      if (groups_)
        groups_->prepare(exec, model, share);
      else
        Launches::prepare(exec, model, rule_, tensors_, share);
    }
  }
  void take_steps(space const& exec) {
    frozen_.arrange(tensors, steps_);
    tensors_.set_steps(exec, steps_);
    if (groups_) groups_->set_steps(exec, steps_);
  }
  void update_range(space const& exec, M& model, FrozenTensors::Updated const& of, int buffers) {
    auto const share = own_share();
    if (groups_) return groups_->update(exec, model, share, of, buffers);
    if constexpr (reads_tensors<Rule>) {
      TensorLaunches<Rule, M>::update(exec, model, rule_, tensors_, share, of, buffers);
    } else {
      auto const update = share.update_of(rule_, model, of, buffers);
      launch(exec, update.items, update);
    }
  }
  RuleShare<M> own_share() const {
    return {label_,       first_, count_, state_.data(), state_.data() + count_ * Rule::states,
            steps_.data()};
  }
  template <class Functor> void launch(space const& exec, int count, Functor const& functor) const {
    RuleShare<M>::launch(exec, label_, count, functor);
  }

  Rule rule_;
  OptimizerOptions options_;
  std::string label_;
  long first_, count_;  // of the parameters that this rank updates
  int blocks_;          // of the norm's sums
  int number_ = 0;      // of the model's optimizers
  OwnSteps<M> steps_;
  long groups_set_ = 0;
  FrozenTensors frozen_;
  Tensors tensors_;
  std::unique_ptr<GroupUpdates<M>> groups_;  // none before the first group
  std::vector<ParameterGroup> group_of_;     // of tensors
  typename M::template Vector<accumulate> state_;
  typename M::template Vector<accumulate> squares_;
  typename M::template Vector<int> finite_;  // of blocks; behind them a device counts its teams
  typename M::template Vector<accumulate> totals_;
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/run_here.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/backend/team_policy.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/train/adam.hpp>
#include <phyllo/train/compare_ranks.hpp>
#include <phyllo/train/measure_by_team.hpp>
#include <phyllo/train/optimizer_kernels.hpp>
#include <phyllo/train/optimizer_options.hpp>
#include <phyllo/train/sgd.hpp>

#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// An update rule with its state, over the flat arena of one model.
///
/// options  Rule: Sgd, Adam, or a struct with rate, schedule, states, prepare and update · scaling
///          · clipping
/// state    Rule::states numbers per parameter, in Precision::accumulate
/// threads  one thread at a time, and none calls the model or its sessions meanwhile
/// errors   run: a largest norm that is not above zero, no room in memory -> Error. A step with an
///          infinite or undefined gradient is skipped on all ranks; but ranks with weights of their
///          own in Full precision skip it alone, because agreement would cost one message a step
/// numerics gradients are divided by the loss scale and by the number of samples of all ranks, then
///          clipped; the sums of the norm are over fixed blocks: their bits are those of one thread
/// cost     two passes: one reads the gradients, for their norm and whether they are finite; the
///          other is the rule's. One thread processes a small arena alone, where starting others
///          costs more; on a device each pass is one kernel, and the host waits for neither.
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
        state_(room<decltype(state_)>(exec, " state", count_ * Rule::states)),
        squares_(room<decltype(squares_)>(exec, " norm", blocks_)),
        finite_(room<decltype(finite_)>(exec, " check", blocks_ + 1)),
        totals_(room<decltype(totals_)>(exec, " totals", 2)) {
    if (!(options.clipping.largest_norm > 0))
      throw Error(label_ + ": the largest norm of the gradient must be above 0, but it is " +
                  std::to_string(options.clipping.largest_norm) +
                  ". Leave Clipping out for no clipping.");
    if constexpr (M::precision::scales_loss)
      Kokkos::parallel_for(label_, Kokkos::RangePolicy<space>(exec, 0, 1),
                           SetLossScale{model.state().data(), options.scaling.initial});
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
    model.forget_forward();  // it was of other weights
    if constexpr (compares_each_step<Policy, space>)
      if (communication.size() > 1 && has_change(exec, model))
        compare_ranks<Policy>(exec, model, *this, communication, true);
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
    constexpr int run = on_host ? 1024 : 1;
    // Late gradients are not of the samples that have just changed the running statistics.
    constexpr int buffers = gradients_are_late<Policy> ? 0 : M::nodes.buffer_size;
    int const updates = int((count_ + run - 1) / run);
    int const items = updates > 0 || buffers == 0 ? updates : 1;
    launch(exec, items,
           UpdateParameters<Rule, storage, accumulate, run>{
               rule_, state, gradients, state_.data(), count_, model.master().data() + first_,
               model.parameters().data() + first_, model.buffers_before().data(),
               model.buffers().data(), buffers, items});
  }

  Rule const& rule() const { return rule_; }
  /// The parameters that this rank updates, from the first to behind the last.
  std::pair<long, long> share() const { return {first_, first_ + count_}; }
  /// The rule's own numbers, Rule::states runs of the size of its share.
  typename M::template Vector<accumulate> const& state() const { return state_; }

 private:
  static constexpr bool on_host = Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible;
  static constexpr long size = M::nodes.arena_size;
  // Of the norm's sums: at most 1024 blocks, of whole cache lines, and none too short for vectors
  // or for a team.
  static constexpr long block = [] {
    constexpr long shortest = on_host ? 4096 : 1024;
    long const whole = (size / 1024 + 64) / 64 * 64;
    return whole > shortest ? whole : shortest;
  }();
  // To start the other threads takes as long as one thread takes for about as many parameters.
  static constexpr bool is_small = size < 32768;

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
  template <class Functor> void launch(space const& exec, int count, Functor const& functor) const {
    if constexpr (in_order<space>) {
      if (is_small || count == 1) return run_here(exec, label_, count, functor);
    }
    Kokkos::parallel_for(launch_label(label_), Kokkos::RangePolicy<space>(exec, 0, count), functor);
  }

  Rule rule_;
  OptimizerOptions options_;
  std::string label_;
  long first_, count_;  // of the parameters that this rank updates
  int blocks_;          // of the norm's sums
  typename M::template Vector<accumulate> state_;
  typename M::template Vector<accumulate> squares_;
  typename M::template Vector<int> finite_;  // of blocks; behind them a device counts its teams
  typename M::template Vector<accumulate> totals_;
};

}  // namespace phyllo::inline PHYLLO_ISA

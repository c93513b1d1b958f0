// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/launch_label.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/train/adam.hpp>
#include <phyllo/train/clipping.hpp>
#include <phyllo/train/loss_scaling.hpp>
#include <phyllo/train/measure_by_team.hpp>
#include <phyllo/train/optimizer_kernels.hpp>
#include <phyllo/train/sgd.hpp>

namespace phyllo {

/// What happens to the gradient before the rule sees it.
struct OptimizerOptions {
  LossScaling scaling = {};
  Clipping clipping = {};
};

/// An update rule with its state, over the flat arena of one model.
///
/// options  Rule: Sgd, Adam, or a struct with rate, schedule, states, prepare and update ·
///          scaling · clipping
/// state    Rule::states numbers per parameter, in Precision::accumulate
/// errors   run: a largest norm that is not above zero -> Error; a step whose gradient is infinite
///          or not a number is skipped, on all ranks alike
/// numerics gradients are divided by the loss scale and by the number of samples of all ranks, then
///          clipped; the sums of the norm are of fixed blocks: their bits are those of one thread
/// cost     two passes: one reads the gradients, for their norm and whether they are finite; the
///          rule's own. An arena that one thread finishes sooner starts no others; on a device each
///          pass is one kernel, and the host waits for neither.
template <class Rule, class M> class Optimizer {
 public:
  using space = typename M::space;
  using accumulate = typename M::accumulate;
  using storage = typename M::storage;

  Optimizer(space const& exec, M const& model, Rule const& rule,
            OptimizerOptions const& options = {})
      : rule_(rule),
        options_(options),
        label_(model.name() + "/" + Rule::name),
        state_(Kokkos::view_alloc(exec, label_ + " state"), std::size_t(size) * Rule::states),
        squares_(Kokkos::view_alloc(exec, label_ + " norm"), std::size_t(blocks)),
        finite_(Kokkos::view_alloc(exec, label_ + " check"), std::size_t(blocks + 1)) {
    if (!(options.clipping.largest_norm > 0))
      throw Error(label_ + ": the largest norm of the gradient must be above 0, but it is " +
                  std::to_string(options.clipping.largest_norm) +
                  ". Leave Clipping out for no clipping.");
    if constexpr (M::precision::scales_loss)
      Kokkos::parallel_for(label_, Kokkos::RangePolicy<space>(exec, 0, 1),
                           SetLossScale{model.state().data(), options.scaling.initial});
  }

  /// For the loop by hand: sums the gradients over the ranks, then updates.
  template <class C = Local> void step(space const& exec, M& model, C&& communication = {}) {
    communication.begin(exec, model.gradients().data(), M::gradient_size);
    communication.finish(exec);
    update(exec, model);
  }

  /// Updates the parameters from gradients that are complete.
  void update(space const& exec, M& model) {
    StepState* const state = model.state().data();
    accumulate const* const gradients = model.gradients().data();
    accumulate const* const tail = gradients + size;
    AdvanceState<Rule, accumulate, M::precision::scales_loss> const advance{
        rule_, options_.scaling, options_.clipping, state, squares_.data(), finite_.data(), blocks,
        tail};
    if constexpr (on_host) {
      launch(exec, blocks,
             MeasureGradients<accumulate, 64>{gradients, state, tail, squares_.data(),
                                              finite_.data(), size, block});
      launch(exec, 1, advance);
    } else {
      using Measure = MeasureByTeam<Rule, accumulate, M::precision::scales_loss>;
      Kokkos::parallel_for(launch_label(label_),
                           Kokkos::TeamPolicy<space>(exec, blocks, Measure::team),
                           Measure{gradients, squares_.data(), finite_.data(),
                                   finite_.data() + blocks, size, block, advance});
    }
    constexpr int run = on_host ? 1024 : 1;
    launch(exec, int((size + run - 1) / run),
           UpdateParameters<Rule, storage, accumulate, run>{rule_, state, gradients, state_.data(),
                                                            size, model.master().data(),
                                                            model.parameters().data()});
  }

  Rule const& rule() const { return rule_; }
  /// The rule's own numbers, Rule::states runs of the arena's size.
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
  static constexpr int blocks = int((size + block - 1) / block);
  // To start the other threads takes as long as one thread takes for about as many parameters.
  static constexpr bool is_small = size < 32768;

  template <class Functor> void launch(space const& exec, int count, Functor const& functor) const {
    if constexpr (in_order<space>) {
      if (is_small || count == 1) return run_here(exec, label_, count, functor);
    }
    Kokkos::parallel_for(launch_label(label_), Kokkos::RangePolicy<space>(exec, 0, count), functor);
  }

  Rule rule_;
  OptimizerOptions options_;
  std::string label_;
  typename M::template Vector<accumulate> state_;
  typename M::template Vector<accumulate> squares_;
  typename M::template Vector<int> finite_;  // of blocks; behind them a device counts its teams
};

}  // namespace phyllo

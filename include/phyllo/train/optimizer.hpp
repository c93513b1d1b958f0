// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/launch_label.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/train/adam.hpp>
#include <phyllo/train/loss_scaling.hpp>
#include <phyllo/train/optimizer_kernels.hpp>
#include <phyllo/train/sgd.hpp>

namespace phyllo {

/// An update rule with its state, over the flat arena of one model.
///
/// options  Rule: Sgd, Adam, or a struct with rate, schedule, states, prepare and update
/// state    Rule::states numbers per parameter, in Precision::accumulate
/// errors   none; a step whose gradient is infinite or not a number is skipped, on all ranks alike
/// numerics gradients are divided by the loss scale and by the number of samples of all ranks
/// cost     two passes: one read for the check, then the rule's own
template <class Rule, class M> class Optimizer {
 public:
  using space = typename M::space;
  using accumulate = typename M::accumulate;
  using storage = typename M::storage;

  Optimizer(space const& exec, M const& model, Rule const& rule, LossScaling const& scaling = {})
      : rule_(rule),
        scaling_(scaling),
        label_(model.name() + "/" + Rule::name),
        state_(Kokkos::view_alloc(exec, label_ + " state"),
               std::size_t(M::nodes.arena_size) * Rule::states),
        finite_(Kokkos::view_alloc(exec, label_ + " check"), std::size_t(check_blocks)) {
    if constexpr (M::precision::scales_loss)
      Kokkos::parallel_for(label_, Kokkos::RangePolicy<space>(exec, 0, 1),
                           SetLossScale{model.state().data(), scaling.initial});
  }

  /// For the loop by hand: sums the gradients over the ranks, then updates.
  template <class C = Local> void step(space const& exec, M& model, C&& communication = {}) {
    communication.begin(exec, model.gradients().data(), M::gradient_size);
    communication.finish(exec);
    update(exec, model);
  }

  /// Updates the parameters from gradients that are complete.
  void update(space const& exec, M& model) {
    using Range = Kokkos::RangePolicy<space>;
    StepState* const state = model.state().data();
    accumulate const* const gradients = model.gradients().data();
    Kokkos::parallel_for(
        launch_label(label_), Range(exec, 0, check_blocks),
        CheckFinite<accumulate>{gradients, finite_.data(), M::nodes.arena_size, check_blocks});
    Kokkos::parallel_for(
        launch_label(label_), Range(exec, 0, 1),
        AdvanceState<Rule, accumulate, M::precision::scales_loss>{
            rule_, scaling_, state, finite_.data(), check_blocks, gradients + M::nodes.arena_size});
    constexpr int run = on_host ? 1024 : 1;
    Kokkos::parallel_for(
        launch_label(label_), Range(exec, 0, (M::nodes.arena_size + run - 1) / run),
        UpdateParameters<Rule, storage, accumulate, run>{rule_, state, gradients, state_.data(),
                                                         M::nodes.arena_size, model.master().data(),
                                                         model.parameters().data()});
  }

  Rule const& rule() const { return rule_; }
  /// The rule's own numbers, Rule::states runs of the arena's size.
  typename M::template Vector<accumulate> const& state() const { return state_; }

 private:
  static constexpr int check_blocks = 256;
  static constexpr bool on_host = Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible;

  Rule rule_;
  LossScaling scaling_;
  std::string label_;
  typename M::template Vector<accumulate> state_;
  typename M::template Vector<int> finite_;
};

}  // namespace phyllo

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/backend/team_policy.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/train/optimizer_kernels.hpp>
#include <phyllo/train/rule_tensors.hpp>
#include <phyllo/train/tensor_kernels.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// The part of an Optimizer's state that its launches read.
template <class M> struct RuleShare {
  std::string const& label;
  long first = 0, count = 0;                  // parameters that this rank updates
  typename M::accumulate* state = nullptr;    // (Rule::states, count)
  typename M::accumulate* numbers = nullptr;  // (tensors, Rule::tensor_numbers)
  StepState const* own_steps = nullptr;       // of tensors that have missed steps

  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<typename M::space, Kokkos::HostSpace>::accessible;
  // Parameters of one work item.
  static constexpr int run = on_host ? 1024 : 1;

  // To start the other threads takes as long as one thread takes for about as many parameters.
  template <class Functor>
  static void launch(typename M::space const& exec, std::string const& label, int count,
                     Functor const& functor) {
    if constexpr (in_order<typename M::space>) {
      if (M::nodes.arena_size < 32768 || count == 1) return run_here(exec, label, count, functor);
    }
    Kokkos::parallel_for(launch_label(label),
                         by_argument(Kokkos::RangePolicy<typename M::space>(exec, 0, count)),
                         functor);
  }
  template <class Functor>
  void launch(typename M::space const& exec, int items, Functor const& functor) const {
    launch(exec, label, items, functor);
  }
  /// The update of one range of the arena, without its tensors.
  template <class Rule>
  UpdateParameters<Rule, typename M::storage, typename M::accumulate, run> update_of(
      Rule const& rule, M& model, FrozenTensors::Updated const& of, int buffers) const {
    long const begin = of.range.first, size = of.range.second - begin;
    int const updates = int((size + run - 1) / run);
    int const items = updates > 0 || buffers == 0 ? updates : 1;
    return {rule,
            of.place < 0 ? model.state().data() : own_steps + of.place,
            model.gradients().data() + begin,
            state + (begin - first),
            size,
            count,
            model.master().data() + begin,
            model.parameters().data() + begin,
            model.buffers_before().data(),
            model.buffers().data(),
            buffers,
            items};
  }
};

/// The launches of a rule that reads_tensors.
template <class Rule, class M> struct TensorLaunches {
  using space = typename M::space;
  using accumulate = typename M::accumulate;
  using Tensors = RuleTensors<Rule, M>;
  using Share = RuleShare<M>;

  /// The rule's sums of each block of a tensor.
  static void measure(space const& exec, M const& model, Rule const& rule, Tensors const& tensors,
                      Share const& share) {
    if constexpr (Tensors::sums > 0) {
      MeasureTensors<Rule, accumulate> const work{rule,
                                                  model.state().data(),
                                                  model.gradients().data() + share.first,
                                                  model.master().data() + share.first,
                                                  share.state,
                                                  share.count,
                                                  share.first,
                                                  tensors.arena(share.numbers, share.own_steps)};
      int const blocks = int(tensors.block_count());
      using ByTeam = MeasureTensorsByTeam<Rule, accumulate>;
      if constexpr (Share::on_host)
        share.launch(exec, blocks, work);
      else if (blocks > 0)
        Kokkos::parallel_for(launch_label(share.label), team_policy(exec, blocks, ByTeam::team),
                             ByTeam{work});
    }
  }
  /// shares: ranks have parts of tensors, whose sums they add before `prepare`.
  static void join(space const& exec, M const& model, Rule const& rule, Tensors const& tensors,
                   Share const& share, bool shares) {
    if constexpr (Tensors::numbers > 0)
      share.launch(exec, tensors.table.size, joined(model, rule, tensors, share, shares));
  }
  static void prepare(space const& exec, M const& model, Rule const& rule, Tensors const& tensors,
                      Share const& share) {
    if constexpr (Tensors::numbers > 0)
      share.launch(exec, tensors.table.size,
                   PrepareTensors<Rule, accumulate>{joined(model, rule, tensors, share, true)});
  }
  /// of: a range of the arena. Where the step does not count, also restores so many running
  /// statistics.
  static void update(space const& exec, M& model, Rule const& rule, Tensors const& tensors,
                     Share const& share, FrozenTensors::Updated const& of, int buffers) {
    // Its kernel reads the StepState of each tensor itself.
    auto const update = share.update_of(rule, model, {of.range}, buffers);
    share.launch(exec, update.items,
                 UpdateTensors<Rule, typename M::storage, accumulate, Share::run>{
                     update, of.range.first, tensors.arena(share.numbers, share.own_steps)});
  }

 private:
  static JoinTensors<Rule, accumulate> joined(M const& model, Rule const& rule,
                                              Tensors const& tensors, Share const& share,
                                              bool shares) {
    return {rule, model.state().data(), tensors.arena(share.numbers, share.own_steps),
            shares ? tensors.totals() : nullptr};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/train/own_steps.hpp>
#include <phyllo/train/parameter_group.hpp>
#include <phyllo/train/tensor_launches.hpp>

#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The launches of an Optimizer whose tensors have groups of their own. An interface, so that the
/// kernels are compiled only where `set_group` is called.
///
/// options  M: the model
template <class M> class GroupUpdates {
 public:
  using space = typename M::space;

  virtual ~GroupUpdates() = default;
  virtual void measure(space const& exec, M const& model, RuleShare<M> const& share) const = 0;
  /// The sums of tensors over all ranks; nullptr: the share is the whole arena.
  virtual typename M::accumulate* totals() const = 0;
  virtual void join(space const& exec, M const& model, RuleShare<M> const& share,
                    bool shares) const = 0;
  virtual void prepare(space const& exec, M const& model, RuleShare<M> const& share) const = 0;
  virtual void update(space const& exec, M& model, RuleShare<M> const& share,
                      FrozenTensors::Updated const& of, int buffers) const = 0;
  virtual void set_steps(space const& exec, OwnSteps<M> const& steps) = 0;
  /// groups: of all tensors.
  virtual void set_groups(space const& exec, std::vector<ParameterGroup> const& groups) = 0;
};

/// The same for one rule.
template <class Rule, class M> class GroupUpdatesOf final : public GroupUpdates<M> {
  using Grouped = GroupedRule<Rule>;
  using Launches = TensorLaunches<Grouped, M>;

 public:
  using typename GroupUpdates<M>::space;

  GroupUpdatesOf(space const& exec, std::string const& label, Rule const& rule,
                 FrozenTensors::Range share, long block)
      : rule_{rule}, tensors_(exec, label + " groups", rule_, share, block) {}

  void measure(space const& exec, M const& model, RuleShare<M> const& share) const override {
    Launches::measure(exec, model, rule_, tensors_, share);
  }
  typename M::accumulate* totals() const override { return tensors_.totals(); }
  void join(space const& exec, M const& model, RuleShare<M> const& share,
            bool shares) const override {
    Launches::join(exec, model, rule_, tensors_, share, shares);
  }
  void prepare(space const& exec, M const& model, RuleShare<M> const& share) const override {
    Launches::prepare(exec, model, rule_, tensors_, share);
  }
  void update(space const& exec, M& model, RuleShare<M> const& share,
              FrozenTensors::Updated const& of, int buffers) const override {
    Launches::update(exec, model, rule_, tensors_, share, of, buffers);
  }
  void set_steps(space const& exec, OwnSteps<M> const& steps) override {
    tensors_.set_steps(exec, steps);
  }
  void set_groups(space const& exec, std::vector<ParameterGroup> const& groups) override {
    tensors_.set_entries(exec, [&](int t, TensorEntry& entry) {
      entry.rate_factor = groups[std::size_t(t)].rate_factor;
      entry.weight_decay = decay(groups[std::size_t(t)]);
    });
  }

 private:
  double decay(ParameterGroup const& group) const {
    if (group.weight_decay) return *group.weight_decay;
    if constexpr (requires { double(rule_.rule.weight_decay); })
      return double(rule_.rule.weight_decay);
    return 0;
  }

  Grouped rule_;
  RuleTensors<Grouped, M> tensors_;
};

}  // namespace phyllo::inline PHYLLO_ISA

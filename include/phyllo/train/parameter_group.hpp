// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/network/network_tensors.hpp>
#include <phyllo/train/rule_tensor.hpp>

#include <limits>
#include <optional>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// What is different for some parameter tensors: Trainer::set_group.
///
/// options  rate_factor: on the rule's rate after the schedule · weight_decay: in place of the
///          rule's
/// source   torch.optim, per-parameter options
struct ParameterGroup {
  double rate_factor = 1;
  Misspelt<Option::rate_factor> rate = {}, learning_rate = {}, lr = {};
  std::optional<double> weight_decay = {};
  Misspelt<Option::weight_decay> decay = {};

  bool changes_nothing() const { return rate_factor == 1 && !weight_decay; }

  /// errors   run: a number below zero or not finite, or a decay that the rule does not have
  template <class Rule> void check(std::string const& who) const {
    check_number(who, "rate_factor", rate_factor);
    if (!weight_decay) return;
    check_number(who, "weight_decay", *weight_decay);
    if constexpr (!requires(Rule r) { r.weight_decay = 0.0; })
      throw Error(who + ": expected a group without a weight_decay, because rule " + Rule::name +
                  " has none, got " + std::to_string(*weight_decay) + ".");
  }

 private:
  static void check_number(std::string const& who, char const* what, double number) {
    if (!(number >= 0 && number <= std::numeric_limits<double>::max()))
      throw Error(who + ": expected a group with a finite " + what + " of at least 0, got " +
                  std::to_string(number) + ".");
  }
};

/// Any rule with the rate and the decay of each tensor's ParameterGroup, as a rule that
/// reads_tensors.
///
/// numerics `prepare` is the rule's own: the factor reaches measure, prepare_tensor and update
template <class Rule> struct GroupedRule {
  Rule rule;

  static constexpr int states = Rule::states;
  static constexpr int tensor_sums = detail::tensor_sums<Rule>();
  static constexpr int tensor_numbers = detail::tensor_numbers<Rule>();

  int group(NetworkTensor const& t) const {
    if constexpr (requires { rule.group(t); }) return rule.group(t);
    return 0;
  }
  template <class T, class Tensor>
  PHYLLO_INLINE void measure(T w, T g, T* state, long stride, StepState const& step,
                             Tensor const& tensor, T* terms) const {
    rule_of(tensor).measure(w, g, state, stride, step_of(step, tensor), tensor, terms);
  }
  template <class T, class Tensor>
  PHYLLO_INLINE void prepare_tensor(T const* sums, StepState const& step, Tensor& tensor) const {
    rule_of(tensor).prepare_tensor(sums, step_of(step, tensor), tensor);
  }
  template <class T, class Tensor>
  PHYLLO_INLINE T update(T w, T g, T* state, long stride, StepState const& step,
                         Tensor const& tensor) const {
    if constexpr (reads_tensors<Rule>)
      return rule_of(tensor).update(w, g, state, stride, step_of(step, tensor), tensor);
    else
      return rule_of(tensor).update(w, g, state, stride, step_of(step, tensor));
  }

 private:
  template <class Tensor> PHYLLO_INLINE Rule rule_of(Tensor const& tensor) const {
    Rule own = rule;
    if constexpr (requires { own.weight_decay = 0.0; })
      own.weight_decay = static_cast<decltype(own.weight_decay)>(tensor.weight_decay);
    return own;
  }
  template <class Tensor>
  PHYLLO_INLINE static StepState step_of(StepState const& step, Tensor const& tensor) {
    StepState own = step;
    own.learning_rate *= tensor.rate_factor;
    return own;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

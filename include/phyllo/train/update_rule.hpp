// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/step_state.hpp>
#include <phyllo/train/rule_tensor.hpp>

#include <concepts>

namespace phyllo::inline PHYLLO_ISA {

/// What an Optimizer needs of its rule; `update` of rules that reads_tensors is in rule_tensor.hpp.
///   R::name    its name in labels and messages
///   R::states  numbers that it keeps for each parameter; may be 0
///   rate       the learning rate, a number
///   schedule   a Schedule: factors on the rate by steps
///   prepare    (step): what is the same for all parameters of a step; may do nothing
///   update     (w, g, state, stride, step): the new value of w; g is the clipped mean gradient
template <class R>
concept UpdateRule = requires(R const& rule, StepState& step) {
  { R::name } -> std::convertible_to<char const*>;
  { R::states } -> std::convertible_to<int>;
  { rule.rate } -> std::convertible_to<double>;
  { rule.schedule.factor(step.step) } -> std::convertible_to<double>;
  rule.prepare(step);
} && (reads_tensors<R> || requires(R const& rule, float* state, StepState const& step) {
                       { rule.update(1.0f, 1.0f, state, 1L, step) } -> std::convertible_to<float>;
                     });

}  // namespace phyllo::inline PHYLLO_ISA

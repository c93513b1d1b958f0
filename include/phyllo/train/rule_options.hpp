// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/number_text.hpp>

#include <cstdint>
#include <limits>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// f(name, value, end) for each number that an update rule has under one of the library's names:
/// a value is from 0 to below `end`.
template <class Rule, class F> void for_each_option(Rule const& rule, F const& f) {
  constexpr double any = std::numeric_limits<double>::infinity();
  f("rate", double(rule.rate), any);
  if constexpr (requires { double(rule.momentum); }) f("momentum", double(rule.momentum), any);
  if constexpr (requires { double(rule.dampening); }) f("dampening", double(rule.dampening), any);
  if constexpr (requires { double(rule.nesterov); }) f("nesterov", double(rule.nesterov), any);
  if constexpr (requires { double(rule.beta1); }) f("beta1", double(rule.beta1), 1.0);
  if constexpr (requires { double(rule.beta2); }) f("beta2", double(rule.beta2), 1.0);
  if constexpr (requires { double(rule.alpha); }) f("alpha", double(rule.alpha), 1.0);
  if constexpr (requires { double(rule.epsilon); }) f("epsilon", double(rule.epsilon), any);
  if constexpr (requires { double(rule.weight_decay); })
    f("weight_decay", double(rule.weight_decay), any);
  if constexpr (requires { double(rule.rate_decay); })
    f("rate_decay", double(rule.rate_decay), any);
  if constexpr (requires { double(rule.momentum_decay); })
    f("momentum_decay", double(rule.momentum_decay), any);
  if constexpr (requires { double(rule.trust); }) f("trust", double(rule.trust), any);
}

/// errors   run: an option outside of its range, or Nesterov's momentum without one -> Error
template <class Rule> void check_options(Rule const& rule, std::string const& who) {
  for_each_option(rule, [&](char const* name, double value, double end) {
    if (value >= 0 && value < end) return;
    bool const bounded = end < std::numeric_limits<double>::infinity();
    throw Error(who + ": expected a rule whose " + name + " is a finite number of at least 0" +
                (bounded ? " and below " + detail::number_text(end) : std::string()) + ", got " +
                detail::number_text(value) + ".");
  });
  if constexpr (requires { rule.nesterov && rule.dampening != 0 && rule.momentum > 0; })
    if (rule.nesterov && !(rule.momentum > 0 && rule.dampening == 0))
      throw Error(
          who + ": expected nesterov with a momentum above 0 and without dampening, got momentum " +
          detail::number_text(double(rule.momentum)) + " and dampening " +
          detail::number_text(double(rule.dampening)) + ".");
}

/// What ranks that train together compare: the options, and the schedule at some steps.
template <class Rule> std::string options_text(Rule const& rule) {
  std::string text;
  for_each_option(rule, [&](char const* name, double value, double) {
    text += std::string(name) + " " + detail::number_text(value) + ", ";
  });
  text += "schedule";
  for (std::uint64_t step = 0; step < 1000000; step = step * 3 + 1)
    text += " " + detail::number_text(rule.schedule.factor(step));
  return text;
}

}  // namespace phyllo::inline PHYLLO_ISA

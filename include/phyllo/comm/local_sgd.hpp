// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/transport.hpp>
#include <phyllo/comm/weight_exchange.hpp>
#include <phyllo/core/random.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// For LocalSgd: weights are averaged only when the caller calls `synchronize`.
inline constexpr long when_asked = 0;

/// Every rank trains on its own samples. Every `Period` steps the weights become their mean over
/// the ranks, weighted by samples; running statistics likewise.
///
/// options  Period: steps between two means; when_asked: only at Trainer::synchronize, for example
///          once an epoch · T = a Transport · Momentum: whether the optimizer's state is averaged
///          too
/// state    one more copy of the weights, and of everything else that is averaged
/// threads  as the transport
/// errors   those of the transport
/// numerics for Sgd of a constant rate, a period of one step gives the weights of AllReduce up to
///          rounding. Samples count where their label is ignored or their step was skipped, too.
///          Clipping uses each rank's own gradient. A rank whose batch is empty makes no step, so
///          its schedule lags.
/// cost     the bytes of the weights, twice with one moment of the optimizer averaged, every Period
///          steps; no message in the others, except one number in mixed precision
/// source   Lin et al., Don't Use Large Mini-Batches, Use Local SGD, arXiv:1808.07217
template <long Period, Transport T, RuleState Momentum = RuleState::averaged> class LocalSgd {
  static_assert(Period >= 0,
                "LocalSgd<Period, T>: Period must be 0 (exchange on request) or more.");
  static_assert(
      !rounds_on_the_wire<T>,
      "LocalSgd<Period, T>: weights cannot be sent in 16 bits. Use Wire for gradients only.");

 public:
  using transport_type = T;
  static constexpr std::string_view title = "LocalSgd";
  static constexpr char const* name = policy_name<LocalSgd, T>.text;
  static constexpr long bucket_bytes = 0;

  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, LocalSgd> &&
             std::constructible_from<T, First, Rest...>)
  LocalSgd(First&& first, Rest&&... rest)
      : transport_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  T& transport() { return transport_; }

  template <class Space> static void reserve(Space const&, long) {}
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    transport_.sum(exec, data, count);
  }
  template <class Space, Summable Number> static void begin(Space const&, Number*, long) {}
  template <class Space> static void finish(Space const&) {}
  void progress() { transport_.progress(); }
  long exclusive_sum(long count) { return transport_.exclusive_sum(count); }
  /// Random masks differ between ranks, because each counts its own samples.
  long first_sample(long) const { return long(rank()) * long(samples_of_one_count); }

  template <class Space, class State> void prepare(Space const& exec, State const& state) {
    if (size() > 1) exchange_.reserve(exec, state, Momentum, false);
  }
  template <class Space, class State>
  void exchange(Space const& exec, State const& state, long samples) {
    samples_ += samples;
    ++steps_;
    if (Period != when_asked && steps_ == Period) synchronize(exec, state);
  }
  template <class Space, class State> void synchronize(Space const& exec, State const& state) {
    if (size() > 1 && steps_ > 0) {
      exchange_.begin(exec, state, samples_, false, transport_);
      exchange_.finish(exec, state, false, transport_);
    }
    samples_ = steps_ = 0;
  }

  /// See StoresState.
  template <class Space, class State>
  std::vector<double> own_state(Space const&, State const&) const {
    return {double(samples_), double(steps_)};
  }
  template <class State> bool is_own_state(State const&, std::vector<double> const& numbers) const {
    return numbers.size() == 2 && detail::is_count(numbers[0], detail::largest_count) &&
           detail::is_count(numbers[1], detail::largest_count);
  }
  template <class Space, class State>
  void set_own_state(Space const&, State const&, std::vector<double> const& numbers) {
    samples_ = numbers.empty() ? 0 : long(numbers[0]);
    steps_ = numbers.empty() ? 0 : long(numbers[1]);
  }

 private:
  WeightExchange exchange_;
  T transport_;       // behind what it may still write to
  long samples_ = 0;  // of this rank since the last exchange
  long steps_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA

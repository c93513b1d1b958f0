// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/weight_exchange.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/policy/communication.hpp>

#include <Kokkos_Timer.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// How late exchanges of weights were on this rank.
///
/// numerics seconds differ between ranks and runs, and include additions that Inner still had to
///          make; the other numbers are the same on all ranks
struct StalenessReport {
  int bound = 0;              // steps between the beginning of an exchange and its use
  long exchanges = 0;         // that have been used
  double seconds_waited = 0;  // for exchanges that had not arrived when they were due
};

/// Every rank trains on its own samples while weights are exchanged. The mean of the weights
/// arrives `Staleness` steps after the exchange began. It is corrected by what the rank has learned
/// meanwhile, and the next exchange begins.
///
/// options  Staleness: steps; 0: each step waits for the mean of its weights · Inner = a
///          Communication whose sums carry the weights, such as AllReduce<Mpi>
/// state    two more copies of the weights; each rank has its own optimizer state, which is
///          averaged if Staleness is 0
/// threads  as the policy inside
/// errors   those of Inner
/// numerics an exchange is used at a fixed step, whenever it arrives: the same ranks give the same
///          bits. Every rank makes the same number of steps. Staleness 0 gives the weights of
///          AllReduce for Sgd up to rounding.
/// cost     the bytes of the weights every Staleness steps, sent while ranks compute
/// source   the mean of separately trained weights: Zhang, Choromanska, LeCun, Deep learning with
///          Elastic Averaging SGD, arXiv:1412.6651, without its elastic force
template <int Staleness, Communication Inner> class Asynchronous {
  static_assert(sums_in_step<Inner>,
                "Asynchronous<Staleness, Inner>: Inner must return the sums of what it is given. "
                "Use AllReduce<T> or Hierarchical<T>.");
  static_assert(Staleness >= 0,
                "Asynchronous<Staleness, Inner>: Staleness must be 0 or more steps.");
  static_assert(!rounds_on_the_wire<Inner>,
                "Asynchronous<Staleness, Inner>: weights cannot be sent in 16 bits. Use Wire for "
                "gradients only.");

 public:
  using inner_type = Inner;
  static constexpr std::string_view title = "Asynchronous";
  static constexpr char const* name = policy_name<Asynchronous, Inner>.text;
  static constexpr long bucket_bytes = 0;
  static constexpr bool meanwhile = Staleness > 0;

  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, Asynchronous> &&
             std::constructible_from<Inner, First, Rest...>)
  Asynchronous(First&& first, Rest&&... rest)
      : inner_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  int rank() const { return inner_.rank(); }
  int size() const { return inner_.size(); }

  template <class Space> static void reserve(Space const&, long) {}
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    inner_.sum(exec, data, count);
  }
  template <class Space, Summable Number> static void begin(Space const&, Number*, long) {}
  template <class Space> static void finish(Space const&) {}
  void progress() { inner_.progress(); }
  long exclusive_sum(long count) { return inner_.exclusive_sum(count); }
  /// Random masks differ between ranks, because each counts its own samples.
  long first_sample(long) const { return long(rank()) * long(samples_of_one_count); }

  template <class Space, class State> void prepare(Space const& exec, State const& state) {
    if (size() == 1) return;
    exchange_.reserve(exec, state, meanwhile ? RuleState::kept : RuleState::averaged, meanwhile);
    using Number = typename State::accumulate;
    inner_.reserve(exec, long(sizeof(Number)) *
                             ((1 + state.rule_states) * state.size + state.buffer_size + 1));
  }
  template <class Space, class State>
  void exchange(Space const& exec, State const& state, long samples) {
    if (size() == 1) return;
    samples_ += samples;
    if (under_way_ && ++age_ == Staleness) arrive(exec, state);
    if (under_way_) {
      inner_.progress();
      return;
    }
    depart(exec, state);
    if (!meanwhile) arrive(exec, state);
  }
  /// Makes the weights of all ranks equal: waits for the exchange that is under way, then for one
  /// more.
  template <class Space, class State> void synchronize(Space const& exec, State const& state) {
    if (size() == 1) return;
    if (under_way_) arrive(exec, state);
    // All have the same weights but for what each has learned since.
    depart(exec, state);
    exchange_.finish(exec, state, false, inner_);
    under_way_ = false;
  }

  /// See StoresState. An exchange that is under way arrives, and is used when it is due.
  template <class Space, class State>
  std::vector<double> own_state(Space const& exec, State const& state) {
    std::vector<double> numbers = {double(samples_), double(age_), double(under_way_),
                                   double(exchanges_)};
    if (under_way_) {
      inner_.finish(exec);
      exchange_.add_words(exec, state, numbers);
    }
    return numbers;
  }
  template <class State>
  bool is_own_state(State const& state, std::vector<double> const& numbers) const {
    if (numbers.size() < 4 || !detail::is_count(numbers[0], detail::largest_count) ||
        !detail::is_count(numbers[1], Staleness) || !detail::is_count(numbers[2], 1) ||
        !detail::is_count(numbers[3], detail::largest_count))
      return false;
    return long(numbers.size()) == 4 + (numbers[2] > 0 ? exchange_.word_count(state) : 0);
  }
  template <class Space, class State>
  void set_own_state(Space const& exec, State const& state, std::vector<double> const& numbers) {
    if (under_way_) inner_.finish(exec);
    bool const none = numbers.empty();
    samples_ = none ? 0 : long(numbers[0]);
    age_ = none ? 0 : int(numbers[1]);
    under_way_ = !none && numbers[2] > 0;
    exchanges_ = none ? 0 : long(numbers[3]);
    if (under_way_) exchange_.take_words(exec, state, numbers, 4);
  }

  StalenessReport staleness() const { return {Staleness, exchanges_, seconds_waited_}; }

 private:
  template <class Space, class State> void depart(Space const& exec, State const& state) {
    exchange_.begin(exec, state, samples_, meanwhile, inner_);
    samples_ = 0;
    age_ = 0;
    under_way_ = true;
  }
  template <class Space, class State> void arrive(Space const& exec, State const& state) {
    Kokkos::Timer const timer;
    inner_.finish(exec);
    seconds_waited_ += timer.seconds();
    exchange_.finish(exec, state, meanwhile, inner_);
    ++exchanges_;
    under_way_ = false;
  }

  WeightExchange exchange_;
  Inner inner_;       // behind what it may still write to
  long samples_ = 0;  // of this rank since its last exchange began
  int age_ = 0;       // steps since the one under way began
  bool under_way_ = false;
  long exchanges_ = 0;
  double seconds_waited_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/transport/workspace.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/policy/stored_state.hpp>
#include <phyllo/policy/trained_state.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Whether an optimizer's momentum and moments become their mean over the ranks with the weights,
/// or each rank keeps its own.
///
/// cost     averaged: they are sent too, Rule::states times the bytes of the weights
enum class RuleState { kept, averaged };

namespace detail {

/// Weights, then what else is averaged, as one run of numbers.
template <class T, class S> struct ExchangedNumbers {
  T* weights = nullptr;
  S* parameters = nullptr;
  T* rule_state = nullptr;
  float* buffers = nullptr;
  long size = 0, rule_size = 0, buffer_size = 0;

  ExchangedNumbers(TrainedState<T, S> const& state, bool with_rule_state)
      : weights(state.weights),
        parameters(state.parameters),
        rule_state(state.rule_state),
        buffers(state.buffers),
        size(state.size),
        rule_size(with_rule_state ? state.rule_states * state.size : 0),
        buffer_size(state.buffer_size) {}

  PHYLLO_INLINE long count() const { return size + rule_size + buffer_size; }
  PHYLLO_INLINE T read(long i) const {
    if (i < size) return weights[i];
    i -= size;
    return i < rule_size ? rule_state[i] : T(buffers[i - rule_size]);
  }
  PHYLLO_INLINE void write(long i, T value) const {
    if (i < size) {
      weights[i] = value;
      if constexpr (!std::is_same_v<T, S>) parameters[i] = S(value);
      return;
    }
    i -= size;
    if (i < rule_size)
      rule_state[i] = value;
    else
      buffers[i - rule_size] = float(value);
  }
};

/// Each number times this rank's samples; behind them the samples.
template <class T, class S> struct WeighNumbers {
  ExchangedNumbers<T, S> numbers;
  T samples = 0;
  T* weighed = nullptr;   // (count + 1)
  T* snapshot = nullptr;  // (count); nullptr: none is kept

  KOKKOS_FUNCTION void operator()(long i) const {
    if (i == numbers.count()) {
      weighed[i] = samples;
      return;
    }
    T const value = numbers.read(i);
    // A rank without samples counts for nothing, whatever its numbers are.
    weighed[i] = samples > T(0) ? value * samples : T(0);
    if (snapshot != nullptr) snapshot[i] = value;
  }
};

/// The mean over all samples, and what this rank has learned since its snapshot.
template <class T, class S> struct TakeMean {
  ExchangedNumbers<T, S> numbers;
  T const* weighed = nullptr;   // (count + 1), summed over the ranks
  T const* snapshot = nullptr;  // (count); nullptr: the mean alone

  KOKKOS_FUNCTION void operator()(long i) const {
    T const samples = weighed[numbers.count()];
    if (!(samples > T(0))) return;
    T const mean = weighed[i] / samples;
    numbers.write(i, snapshot == nullptr ? mean : mean + (numbers.read(i) - snapshot[i]));
  }
};

}  // namespace detail

/// Weights, running statistics and, where wanted, the optimizer's state become their mean over the
/// ranks, each rank counted by its samples since the last exchange.
///
/// state    one copy of what is exchanged; two where ranks go on training meanwhile
/// numerics a rank that has gone on meanwhile adds what it has learned since to the mean
/// cost     one sum over the ranks of all numbers; two passes over them
class WeightExchange {
 public:
  /// Room for all exchanges to come.
  template <class Space, class T, class S>
  void reserve(Space const& exec, TrainedState<T, S> const& state, RuleState rule_state,
               bool meanwhile) {
    averages_rule_state_ = rule_state == RuleState::averaged;
    long const bytes = long(sizeof(T)) * (numbers(state).count() + 1);
    weighed_.reserve(exec, bytes);
    if (meanwhile) snapshot_.reserve(exec, bytes);
  }

  /// Starts an exchange over `carrier`, a Transport or a policy.
  template <class Space, class T, class S, class Carrier>
  void begin(Space const& exec, TrainedState<T, S> const& state, long samples, bool meanwhile,
             Carrier& carrier) {
    detail::WeighNumbers<T, S> const weigh{numbers(state), T(samples), weighed_.numbers<T>(),
                                           meanwhile ? snapshot_.numbers<T>() : nullptr};
    launch(exec, "phyllo/weigh weights", weigh.numbers.count() + 1, weigh);
    carrier.begin(exec, weigh.weighed, weigh.numbers.count() + 1);
  }
  /// Waits for the exchange, and uses the mean.
  template <class Space, class T, class S, class Carrier>
  void finish(Space const& exec, TrainedState<T, S> const& state, bool meanwhile,
              Carrier& carrier) {
    carrier.finish(exec);
    detail::TakeMean<T, S> const take{numbers(state), weighed_.numbers<T>(),
                                      meanwhile ? snapshot_.numbers<T>() : nullptr};
    launch(exec, "phyllo/mean weights", take.numbers.count(), take);
  }

  /// Of an exchange whose sum has arrived and that was not finished, while ranks go on training.
  template <class T, class S> long word_count(TrainedState<T, S> const& state) const {
    long const bytes = long(sizeof(T)) * numbers(state).count();
    return detail::words_in(bytes + long(sizeof(T))) + detail::words_in(bytes);
  }
  template <class Space, class T, class S>
  void add_words(Space const& exec, TrainedState<T, S> const& state,
                 std::vector<double>& words) const {
    long const bytes = long(sizeof(T)) * numbers(state).count();
    detail::append_words(exec, words, weighed_.data(), bytes + long(sizeof(T)));
    detail::append_words(exec, words, snapshot_.data(), bytes);
  }
  template <class Space, class T, class S>
  void take_words(Space const& exec, TrainedState<T, S> const& state,
                  std::vector<double> const& words, std::size_t at) {
    long const bytes = long(sizeof(T)) * numbers(state).count();
    detail::take_words(exec, words, at, weighed_.data(), bytes + long(sizeof(T)));
    detail::take_words(exec, words, at, snapshot_.data(), bytes);
  }

 private:
  template <class T, class S>
  detail::ExchangedNumbers<T, S> numbers(TrainedState<T, S> const& state) const {
    return {state, averages_rule_state_};
  }
  template <class Space, class Functor>
  static void launch(Space const& exec, char const* label, long count, Functor const& functor) {
    Kokkos::parallel_for(launch_label(label),
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<long>>(exec, 0, count),
                         functor);
  }

  bool averages_rule_state_ = false;
  Workspace weighed_{"phyllo/weights of all ranks"};
  Workspace snapshot_{"phyllo/weights when an exchange began"};
};

}  // namespace phyllo::inline PHYLLO_ISA

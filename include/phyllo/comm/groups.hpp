// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/transport.hpp>
#include <phyllo/core/error.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/policy/communication.hpp>
#include <phyllo/policy/stored_state.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Ranks in `Count` groups of neighbours. Gradients are summed inside a group in every step;
/// weights are exchanged between groups.
///
/// options  Count: groups, whose sizes differ by one at most; 1: Inner alone · Inner = a
///          Communication with a transport, such as AllReduce<Mpi> · Outer = one that exchanges
///          weights, such as Asynchronous<4, AllReduce<Mpi>>
/// state    that of both
/// threads  as the policies inside
/// errors   those of both; fewer ranks than groups -> Error
/// numerics every rank of a group has the same bits in every step; between groups as Outer
/// cost     Inner's in each step in a group; Outer's among all ranks
/// source   Kurth et al., Deep Learning at 15PF, arXiv:1708.05256, without its parameter servers
template <int Count, Communication Inner, ExchangesWeights Outer> class Groups {
  static_assert(Count >= 1, "Groups<Count, Inner, Outer>: Count must be 1 or more.");
  static_assert(sums_in_step<Inner>,
                "Groups<Count, Inner, Outer>: Inner must sum all gradients in the step that "
                "computes them. Use AllReduce<T>; Outer exchanges weights.");
  static_assert(Count < 1 || moves_shares<typename Inner::transport_type>,
                "Groups<Count, Inner, Outer>: this transport cannot be split into groups. Use Mpi "
                "or GpuAwareMpi.");

 public:
  using transport_type = typename Inner::transport_type;
  static constexpr std::string_view title = "Groups";
  static constexpr char const* name = policy_name<Groups, Inner, Outer>.text;
  static constexpr long bucket_bytes = Inner::bucket_bytes;
  static constexpr bool rounds_on_the_wire = phyllo::rounds_on_the_wire<Inner>;

  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, Groups> &&
             std::constructible_from<transport_type, First const&, Rest const&...>)
  Groups(First const& first, Rest const&... rest)
      : Groups(transport_type(first, rest...), first, rest...) {}

  int rank() const { return outer_.rank(); }
  int size() const { return outer_.size(); }
  int group() const { return group_; }
  /// Of the ranks of a group, which have its sums in common, the one that adds them to others'.
  bool is_first_of_group() const { return inner_.rank() == 0; }

  template <class Space> void reserve(Space const& exec, long bytes) {
    inner_.reserve(exec, bytes);
  }
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    outer_.sum(exec, data, count);
  }
  template <class Space, Summable Number> void begin(Space const& exec, Number* data, long count) {
    inner_.begin(exec, data, count);
  }
  template <class Space, Summable Number>
  void begin_counts(Space const& exec, Number* data, long count)
    requires rounds_on_the_wire
  {
    inner_.begin_counts(exec, data, count);
  }
  template <class Space> void finish(Space const& exec) { inner_.finish(exec); }
  void progress() {
    inner_.progress();
    outer_.progress();
  }
  long exclusive_sum(long count) { return outer_.exclusive_sum(count); }
  /// Random masks differ between groups, because each counts its own samples.
  long first_sample(long count) {
    return long(group_) * long(samples_of_one_count) + inner_.exclusive_sum(count);
  }

  template <class Space, class State> void prepare(Space const& exec, State const& state) {
    if (Count > 1) outer_.prepare(exec, state);
  }
  template <class Space, class State>
  void exchange(Space const& exec, State const& state, long samples) {
    if (Count > 1) outer_.exchange(exec, state, samples);
  }
  template <class Space, class State> void synchronize(Space const& exec, State const& state) {
    if (Count > 1) outer_.synchronize(exec, state);
  }

  /// See StoresState.
  template <class Space, class State>
  std::vector<double> own_state(Space const& exec, State const& state)
    requires StoresState<Outer>
  {
    return outer_.own_state(exec, state);
  }
  template <class State>
  bool is_own_state(State const& state, std::vector<double> const& numbers) const
    requires StoresState<Outer>
  {
    return outer_.is_own_state(state, numbers);
  }
  template <class Space, class State>
  void set_own_state(Space const& exec, State const& state, std::vector<double> const& numbers)
    requires StoresState<Outer>
  {
    outer_.set_own_state(exec, state, numbers);
  }

  Outer const& outer() const { return outer_; }

 private:
  template <class... Arguments>
  Groups(transport_type&& all, Arguments const&... arguments)
      : group_(group_of(all.rank(), all.size())), inner_(all.split(group_)), outer_(arguments...) {}

  static int group_of(int rank, int size) {
    if (size < Count)
      throw Error("Groups: expected at least " + std::to_string(Count) +
                  " ranks, one for each group, got " + std::to_string(size) + ".");
    return int(long(rank) * Count / size);
  }

  int group_;
  Inner inner_;
  Outer outer_;
};

}  // namespace phyllo::inline PHYLLO_ISA

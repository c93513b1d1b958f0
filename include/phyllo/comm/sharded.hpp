// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/shares.hpp>
#include <phyllo/comm/transport/transport.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Each rank sums and updates one share of the parameters and stores the optimizer state of that
/// share. The ranks gather the parameters after each update.
///
/// options  Inner = AllReduce over a transport that can scatter and gather, which sums the rest
/// state    the optimizer's, divided by the number of ranks
/// threads  as the policy inside
/// errors   those of the transport
/// numerics the weights of AllReduce; the norm of the gradient is a sum of the ranks' sums. In
///          mixed precision each rank has unrounded weights of its own share only, until
///          Trainer::synchronize: call it before saving.
/// cost     the bytes of AllReduce, in two halves: gradients in buckets during the backward pass,
///          parameters in their storage type after the update
/// source   Rajbhandari et al., ZeRO, arXiv:1910.02054: its first stage, and its second's messages
template <Communication Inner> class Sharded {
  static_assert(sums_in_step<Inner>,
                "Sharded<Inner>: Inner must sum all gradients in the step that computes them. Use "
                "AllReduce<T>.");
  static_assert(
      !rounds_on_the_wire<Inner>,
      "Sharded<Inner>: gradients cannot be sent in 16 bits here. Use Wire with AllReduce.");
  static_assert(rounds_on_the_wire<Inner> || moves_shares<typename Inner::transport_type>,
                "Sharded<Inner>: this transport cannot send a share of the parameters to each "
                "rank. Use AllReduce<Mpi> or AllReduce<GpuAwareMpi>.");

 public:
  using transport_type = typename Inner::transport_type;
  static constexpr std::string_view title = "Sharded";
  static constexpr char const* name = policy_name<Sharded, Inner>.text;
  static constexpr long bucket_bytes = Inner::bucket_bytes;

  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, Sharded> &&
             std::constructible_from<Inner, First, Rest...>)
  Sharded(First&& first, Rest&&... rest)
      : inner_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  int rank() const { return inner_.rank(); }
  int size() const { return inner_.size(); }

  template <class Space> void reserve(Space const& exec, long bytes) {
    inner_.reserve(exec, 2 * bytes);
  }
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    inner_.sum(exec, data, count);
  }
  /// Each rank gets its share of the gradients' sum; all ranks get the counts stored behind them.
  template <class Space, Summable Number> void begin(Space const& exec, Number* data, long count) {
    Number* const gradients = static_cast<Number*>(gradients_);
    long const first = data - gradients, last = first + count;
    if (last > count_) inner_.begin(exec, gradients + count_, last - count_);
    inner_.transport().begin_reduce_scatter(
        exec, gradients, Shares(count_, size(), first, last < count_ ? last : count_));
  }
  template <class Space> void finish(Space const& exec) { inner_.finish(exec); }
  void progress() { inner_.progress(); }
  long exclusive_sum(long count) { return inner_.exclusive_sum(count); }

  template <class Space, class State> void prepare(Space const&, State const& state) {
    gradients_ = state.gradients;
    count_ = state.size;
  }
  std::pair<long, long> share(long count) const {
    Shares const shares(count, size());
    return {shares.first(rank()), shares.last(rank())};
  }
  template <class Space, class State> void gather(Space const& exec, State const& state) {
    gather_shares(exec, state.parameters);
  }
  template <class Space, class Number> void gather_shares(Space const& exec, Number* data) {
    inner_.transport().begin_all_gather(exec, data, Shares(count_, size()));
    inner_.finish(exec);
  }
  template <class Space, class State> void synchronize(Space const& exec, State const& state) {
    using Number = typename State::accumulate;
    if constexpr (!std::same_as<Number, typename State::storage>)
      gather_shares(exec, state.weights);
  }

 private:
  Inner inner_;
  void* gradients_ = nullptr;
  long count_ = 0;  // parameters
};

}  // namespace phyllo::inline PHYLLO_ISA

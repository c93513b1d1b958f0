// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/transport.hpp>
#include <phyllo/policy/shard_communication.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// The all-reduce of Reproducible. Every rank sends the sums of its shards, as few complete
/// subtrees as possible, and adds those of all ranks in the same order.
///
/// options  T = a Transport with all_gather and begin_all_gather
/// threads  as the transport
/// errors   those of the transport; compile: a sum of anything but shards over ranks
/// numerics messages do no arithmetic: the same bits for any number of ranks
/// cost     one exchange at the end of a step, which nothing overlaps with; each rank receives at
///          most min(2 log2(Shards) ranks, Shards) times the bytes of the gradients
template <Transport T> class TreeReduce {
 public:
  using transport_type = T;
  static constexpr std::string_view title = "TreeReduce";
  static constexpr char const* name = policy_name<TreeReduce, T>.text;
  static constexpr long bucket_bytes = 0;

  /// Constructed from the arguments of the transport: TreeReduce<Mpi> from the caller's MPI_Comm.
  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, TreeReduce> &&
             std::constructible_from<T, First, Rest...>)
  TreeReduce(First&& first, Rest&&... rest)
      : transport_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  T& transport() { return transport_; }

  /// bytes: the sums of the shards of all ranks.
  template <class Space> void reserve(Space const& exec, long bytes) {
    transport_.reserve(exec, bytes, 1);
  }
  template <class Space, Summable Number>
  void begin_all_gather(Space const& exec, Number* data, long const* bounds) {
    transport_.begin_all_gather(exec, data, bounds);
  }
  template <class Space> void finish(Space const& exec) { transport_.finish(exec); }
  void all_gather(long count, long* counts) { transport_.all_gather(count, counts); }
  void progress() { transport_.progress(); }
  long exclusive_sum(long count) { return transport_.exclusive_sum(count); }

  template <class Space, Summable Number> void sum(Space const&, Number*, long) {
    static_assert(
        sizeof(Number) == 0,
        "TreeReduce: it adds sums of shards, which only a Trainer with Reproducible computes. Use "
        "Execution<Space, BackendList, FusionLevel::tile, Reproducible<>>, or AllReduce<T>.");
  }
  template <class Space, Summable Number> void begin(Space const& exec, Number* data, long count) {
    sum(exec, data, count);
  }

 private:
  T transport_;
};

}  // namespace phyllo::inline PHYLLO_ISA

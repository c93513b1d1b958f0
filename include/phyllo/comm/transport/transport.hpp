// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/transport/shares.hpp>
#include <phyllo/policy/communication.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A short message costs its latency (some microseconds), a long one its bytes: 4 MiB take 0.4 ms
/// at 10 GB/s, a hundred latencies, and still divide a large network into several buckets that
/// overlap with its backward pass. A network with fewer bytes of gradients needs one transfer.
inline constexpr long default_bucket_bytes = 4L << 20;

/// Sums numbers over ranks. A transport handles memory and messages only; the communication policy
/// decides what is summed, and when. The calls are those of the same names in Communication;
/// reserve gets the bytes and the transfers of one step.
template <class T>
concept Transport = requires(T& t, T const& constant, Kokkos::DefaultExecutionSpace const& exec,
                             float* single, double* twofold, long count) {
  { T::name } -> std::convertible_to<char const*>;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  t.reserve(exec, count, count);
  t.sum(exec, single, count);
  t.sum(exec, twofold, count);
  t.begin(exec, single, count);
  t.begin(exec, twofold, count);
  t.finish(exec);
  t.progress();
  { t.exclusive_sum(count) } -> std::same_as<long>;
};

/// A transport that can prepare for sums of the same data in every step; plan is collective.
template <class T>
concept PlanningTransport =
    Transport<T> && requires(T& t, Kokkos::DefaultExecutionSpace const& exec, float* single,
                             long count) { t.plan(exec, single, count); };

/// A transport that also sends shares: see Mpi. Shares are contiguous, one for each rank.
///   begin_reduce_scatter  the own share of data becomes its sum
///   begin_all_gather      every rank gets the shares of all others; no arithmetic
///   begin_all_to_all      part r of one array goes to rank r; no arithmetic
///   split                 a transport of the ranks with the same color; collective
///   first_of_node         the lowest rank of this rank's node; collective
///   least                 the smallest of all ranks' numbers; collective
template <class T>
concept ShareTransport =
    Transport<T> && requires(T& t, Kokkos::DefaultExecutionSpace const& exec, float* single,
                             double* twofold, long count, Shares const& shares, int color) {
      t.begin_reduce_scatter(exec, single, shares);
      t.begin_reduce_scatter(exec, twofold, shares);
      t.begin_all_gather(exec, single, shares);
      t.begin_all_to_all(exec, single, single, count);
      { t.split(color) } -> std::same_as<T>;
      { t.first_of_node() } -> std::same_as<int>;
      { t.least(count) } -> std::same_as<long>;
    };

/// The same for assertions, whose errors it keeps short.
template <class T> inline constexpr bool moves_shares = ShareTransport<T>;

}  // namespace phyllo::inline PHYLLO_ISA

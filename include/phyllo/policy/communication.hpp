// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/policy/trained_state.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// The types of the numbers that ranks add: the accumulation types of the precision policies.
template <class T>
concept Summable = std::same_as<T, float> || std::same_as<T, double>;

/// How ranks train one network together.
///
/// Data are in the memory of the execution space and are replaced by their sum over the ranks.
/// Every rank makes the same calls in the same order with the same counts; a count may be 0.
///   C::name           its name in explain and in messages
///   C::bucket_bytes   bytes of gradients in one message; 0: all of them in one bucket
///   reserve           allocates for the gradients of one step, so that no later call does
///   sum               blocking: the sum is in data on return
///   begin             starts one bucket; do not read or write its data until finish
///   finish            completes all buckets: their sums are in their data
///   progress          advances messages; call it between launches
///   exclusive_sum     the sum of count over the ranks below this one
template <class C>
concept Communication = requires(C& c, C const& constant, Kokkos::DefaultExecutionSpace const& exec,
                                 float* single, double* twofold, long count) {
  { C::name } -> std::convertible_to<char const*>;
  { C::bucket_bytes } -> std::convertible_to<long>;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  c.reserve(exec, count);
  c.sum(exec, single, count);
  c.sum(exec, twofold, count);
  c.begin(exec, single, count);
  c.begin(exec, twofold, count);
  c.finish(exec);
  c.progress();
  { c.exclusive_sum(count) } -> std::same_as<long>;
};

/// Whether a policy uses the instance only, so that a device's runtime may record its calls: the
/// host neither waits for the device nor calls MPI. A policy declares it by `static constexpr bool
/// recordable = true`.
template <class C> inline constexpr bool is_recordable = requires { requires C::recordable; };

/// Whether numbers are rounded before they are sent. Counts are then sent separately, by
/// `begin_counts`.
template <class C>
inline constexpr bool rounds_on_the_wire = requires { requires C::rounds_on_the_wire; };

/// Whether the only bucket of a network is summed by `sum`: it is complete when the backward pass
/// ends, so nothing can overlap, and blocking calls are faster.
template <class C>
inline constexpr bool sums_only_bucket_at_once = requires { requires C::sums_only_bucket_at_once; };

/// Whether an update uses the gradients of the step before. A policy declares it.
template <class C>
inline constexpr bool gradients_are_late = requires { requires C::gradients_are_late; };

/// A policy that can prepare for buckets that are the same in every step.
///   plan  collective, once for each of them, in order
template <class C>
concept PlansBuckets = requires(C& c, Kokkos::DefaultExecutionSpace const& exec, float* single,
                                long count) { c.plan(exec, single, count); };

/// A policy under which ranks hold different weights between two exchanges.
///   prepare      allocates for all exchanges, so that no later call does
///   exchange     after each update, with the number of samples of this rank's batch
///   synchronize  makes weights and running statistics of all ranks equal
///   first_sample index of this rank's first sample among those that random masks are drawn for
template <class C>
concept ExchangesWeights = requires(C& c, Kokkos::DefaultExecutionSpace const& exec,
                                    TrainedState<float, float> const& state, long samples) {
  c.prepare(exec, state);
  c.exchange(exec, state, samples);
  { c.first_sample(samples) } -> std::same_as<long>;
  c.synchronize(exec, state);
};

/// Where ranks exchange weights: whether this one adds its sums over samples to those of others. Of
/// a group of ranks that have their sums in common, one does.
template <class C> bool has_own_sums(C const& communication) {
  if constexpr (requires { communication.is_first_of_group(); })
    return communication.is_first_of_group();
  else
    return true;
}

/// A policy under which each rank updates a share of the parameters only.
///   share          the first parameter of each rank's share, and the size behind the last
///   gather         after each update: parameters of all shares
///   gather_shares  the shares of any array with one number for each parameter
///   synchronize    the unrounded weights of all shares too
template <class C>
concept SharesParameters = requires(C& c, Kokkos::DefaultExecutionSpace const& exec,
                                    TrainedState<float, float> const& state, float* numbers) {
  c.prepare(exec, state);
  c.gather_shares(exec, numbers);
  { c.share(state.size) } -> std::same_as<std::pair<long, long>>;
  c.gather(exec, state);
  c.synchronize(exec, state);
};

/// Whether `finish` leaves sums over all ranks, of what `begin` was given, in its place and in the
/// same step: what policies are built of that have others inside.
template <class C>
inline constexpr bool sums_in_step =
    !ExchangesWeights<C> && !SharesParameters<C> && !gradients_are_late<C>;

/// The transport that sends a policy's messages: Mpi of Lag<1, AllReduce<Wire<bf16, Mpi>>>.
template <class C> struct InnermostTransport {
  using type = C;
};
template <class C>
  requires requires { typename C::transport_type; }
struct InnermostTransport<C> : InnermostTransport<typename C::transport_type> {};
template <class C>
  requires requires { typename C::inner_type; }
struct InnermostTransport<C> : InnermostTransport<typename C::inner_type> {};

/// One rank.
///
/// cost     none: every call is empty
struct Local {
  static constexpr char const* name = "Local";
  static constexpr long bucket_bytes = 0;
  static constexpr bool recordable = true;

  static constexpr int rank() { return 0; }
  static constexpr int size() { return 1; }
  template <class Space> static void reserve(Space const&, long) {}
  template <class Space, Summable T> static void sum(Space const&, T*, long) {}
  template <class Space, Summable T> static void begin(Space const&, T*, long) {}
  template <class Space> static void finish(Space const&) {}
  static void progress() {}
  static constexpr long exclusive_sum(long) { return 0; }
};

}  // namespace phyllo::inline PHYLLO_ISA

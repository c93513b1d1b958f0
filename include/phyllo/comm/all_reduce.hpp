// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/policy_name.hpp>
#include <phyllo/comm/transport/transport.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Sums the gradients of all ranks in every step, before the update.
///
/// options  T = a Transport · BucketBytes = bytes of gradients in one message; 0: all in one bucket
/// threads  as the transport
/// errors   those of the transport
/// numerics the order of the sum is the transport's; a NaN on one rank reaches all
/// cost     two times the bytes of the gradients per step and rank; buckets overlap with the rest
///          of the backward pass
template <Transport T, long BucketBytes = default_bucket_bytes> class AllReduce {
  static_assert(BucketBytes >= 0, "AllReduce<T, BucketBytes>: BucketBytes must be 0 or more.");

 public:
  using transport_type = T;
  static constexpr std::string_view title = "AllReduce";
  static constexpr char const* name = policy_name<AllReduce, T>.text;
  static constexpr long bucket_bytes = BucketBytes;
  static constexpr bool sums_only_bucket_at_once = !phyllo::rounds_on_the_wire<T>;
  static constexpr bool recordable = is_recordable<T>;
  static constexpr bool rounds_on_the_wire = phyllo::rounds_on_the_wire<T>;

  /// Constructed from the arguments of the transport: AllReduce<Mpi> from the caller's MPI_Comm.
  template <class First, class... Rest>
    requires(!std::same_as<std::remove_cvref_t<First>, AllReduce> &&
             std::constructible_from<T, First, Rest...>)
  AllReduce(First&& first, Rest&&... rest)
      : transport_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  T& transport() { return transport_; }

  /// bytes: the gradients of one step. The first gradient that fills a bucket closes it, so there
  /// are at most this many.
  template <class Space> void reserve(Space const& exec, long bytes) {
    transport_.reserve(exec, bytes, BucketBytes == 0 ? 1 : bytes / BucketBytes + 1);
  }
  /// The same data are sent in every step; see Mpi::plan.
  template <class Space, Summable Number>
  void plan(Space const& exec, Number* data, long count)
    requires PlanningTransport<T>
  {
    transport_.plan(exec, data, count);
  }
  template <class Space, Summable Number> void sum(Space const& exec, Number* data, long count) {
    transport_.sum(exec, data, count);
  }
  template <class Space, Summable Number> void begin(Space const& exec, Number* data, long count) {
    transport_.begin(exec, data, count);
  }
  template <class Space, Summable Number>
  void begin_counts(Space const& exec, Number* data, long count)
    requires rounds_on_the_wire
  {
    transport_.begin_counts(exec, data, count);
  }
  template <class Space> void finish(Space const& exec) { transport_.finish(exec); }
  void progress() { transport_.progress(); }
  long exclusive_sum(long count) { return transport_.exclusive_sum(count); }

 private:
  T transport_;
};

}  // namespace phyllo::inline PHYLLO_ISA

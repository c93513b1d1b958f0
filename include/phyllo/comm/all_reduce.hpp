// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

namespace phyllo {

/// Gradients below this size leave in one transfer: a message of 4 MiB costs far more than its
/// latency on any of today's networks, and smaller ones would only pay the latency more often.
inline constexpr long default_bucket_bytes = 4L << 20;

/// Synchronous data parallelism: gradients are summed over all ranks, bucket by bucket, while the
/// backward pass goes on, and every rank takes the same step.
///
/// options  Transport: Mpi · BucketBytes: 4 MiB
/// errors   those of the transport
/// numerics the mean over all samples of all ranks, however uneven their batches
/// cost     one all-reduce of the gradients per step
/// source   Sergeev and Del Balso, "Horovod", arXiv:1802.05799
template <class Transport, long BucketBytes = default_bucket_bytes> class AllReduce {
 public:
  static constexpr char const* name = "all_reduce";
  static constexpr long bucket_bytes = BucketBytes;

  template <class Communicator>
  AllReduce(Communicator&& communicator)  // NOLINT: what the transport takes, this takes
      : transport_(std::forward<Communicator>(communicator)) {}

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  template <class Space> void reserve(Space const& exec, long bytes) {
    transport_.reserve(exec, bytes);
  }
  template <class Space, class T> void sum(Space const& exec, T* data, long count) {
    transport_.sum(exec, data, count);
  }
  template <class Space, class T> void begin(Space const& exec, T* data, long count) {
    transport_.begin(exec, data, count);
  }
  template <class Space> void finish(Space const& exec) { transport_.finish(exec); }
  void progress() { transport_.progress(); }
  long exclusive_sum(long count) { return transport_.exclusive_sum(count); }

 private:
  Transport transport_;
};

}  // namespace phyllo

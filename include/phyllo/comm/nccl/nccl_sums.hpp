// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/mpi_communicator.hpp>
#include <phyllo/comm/transport/transport.hpp>

#include <climits>
#include <cstddef>
#include <exception>
#include <string>
#include <utility>

// backend/cuda/nccl_runtime.hpp or backend/hip/rccl_runtime.hpp, included before, has brought the
// library.
#if defined(NCCL_MAJOR)

namespace phyllo::inline PHYLLO_ISA {

/// Settings of an Nccl or Rccl, the same on every rank.
///
/// errors   a time-out below 0 -> Error, at construction
struct NcclOptions {
  double timeout = 600;  // seconds; of what goes through MPI, as in MpiOptions; 0: for ever
};

/// Sums over devices by the vendor's library, NVIDIA's NCCL or AMD's RCCL, on streams; the host
/// does not wait. One device a rank, the current one. Ranks exchange the library's identifier
/// through MPI.
///
/// options  Runtime: streams and events, cuda::NcclRuntime or hip::RcclRuntime
/// state    a communicator of the library, one of MPI, and an instance on which buckets are summed
///          while the caller's instance computes
/// threads  one thread at a time
/// errors   whatever the library refuses, at once or in the background -> Error, from the next
///          call. A rank that stalls in the middle of a sum is not detected: the device waits for
///          it.
/// numerics the order of a sum is the library's
/// cost     no fence. `sum` is ordered on the caller's instance: later kernels there read the sum,
///          and the host does after a fence.
template <class Runtime> class NcclSums {
 public:
  static constexpr char const* name = Runtime::name;
  static constexpr bool recordable = true;
  using space = typename Runtime::space;

  NcclSums(MPI_Comm communicator, NcclOptions const& options = {})
      : ranks_(communicator, INT_MAX, options.timeout) {
    // Rank 0's name of the group reaches the others as a sum of its bytes and zeros.
    ncclUniqueId id{};
    if (rank() == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    double bytes[NCCL_UNIQUE_ID_BYTES] = {};
    if (rank() == 0)
      for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; ++i) bytes[i] = double(id.internal[i]);
    ranks_.sum(bytes, NCCL_UNIQUE_ID_BYTES);
    for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; ++i) id.internal[i] = char(bytes[i]);
    check(ncclCommInitRank(&group_, size(), id, rank()), "ncclCommInitRank");
    Runtime::create(written_);
    Runtime::create(summed_);
  }
  NcclSums(NcclSums&& other) noexcept
      : ranks_(std::move(other.ranks_)),
        aside_(other.aside_),
        group_(std::exchange(other.group_, nullptr)),
        written_(other.written_),
        summed_(other.summed_) {}
  NcclSums& operator=(NcclSums&&) = delete;
  ~NcclSums() {
    if (group_ == nullptr) return;
    // Sums that were begun are those of the other ranks too, which wait for this one. Behind an
    // error they may be gone: aborting does not wait for them.
    if (std::uncaught_exceptions() > exceptions_) {
      static_cast<void>(ncclCommAbort(group_));
    } else {
#if NCCL_VERSION_CODE >= 21400  // before, the next call waited
      static_cast<void>(ncclCommFinalize(group_));
#endif
      static_cast<void>(ncclCommDestroy(group_));
    }
    Runtime::destroy(written_);
    Runtime::destroy(summed_);
  }

  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }

  void reserve(space const&, long, long) {}

  template <Summable T> void sum(space const& exec, T* data, long count) {
    add_up(data, count, Runtime::stream(exec));
  }
  template <Summable T> void begin(space const& exec, T* data, long count) {
    Runtime::record(written_, Runtime::stream(exec));
    Runtime::await(Runtime::stream(aside_), written_);
    add_up(data, count, Runtime::stream(aside_));
    has_begun_ = true;
  }
  void finish(space const& exec) {
    if (!has_begun_) return;
    Runtime::record(summed_, Runtime::stream(aside_));
    Runtime::await(Runtime::stream(exec), summed_);
    has_begun_ = false;
  }
  /// The library needs no help to advance; errors of the background are thrown here.
  void progress() {
    ncclResult_t result = ncclSuccess;
    check(ncclCommGetAsyncError(group_, &result), "ncclCommGetAsyncError");
    check(result, "ncclAllReduce");
  }
  long exclusive_sum(long count) const { return size() == 1 ? 0 : ranks_.exclusive_sum(count); }

 private:
  void check(ncclResult_t result, char const* call) const {
    if (result == ncclSuccess) return;
    throw Error(std::string(name) + " on rank " + std::to_string(rank()) + ": expected " + call +
                " to succeed, got \"" + ncclGetErrorString(result) +
                "\". Set NCCL_DEBUG=INFO in the environment for details.");
  }
  template <Summable T> void add_up(T* data, long count, typename Runtime::Stream stream) const {
    if (count < 0)
      throw Error(std::string(name) + " on rank " + std::to_string(rank()) +
                  ": expected a count of numbers that is 0 or more, got " + std::to_string(count) +
                  ".");
    if (count == 0 || size() == 1) return;
    constexpr ncclDataType_t type = std::same_as<T, float> ? ncclFloat32 : ncclFloat64;
    check(ncclAllReduce(data, data, std::size_t(count), type, ncclSum, group_, stream),
          "ncclAllReduce");
  }

  static space own_instance() { return Kokkos::Experimental::partition_space(space{}, 1)[0]; }

  MpiCommunicator ranks_;
  space aside_ = own_instance();
  ncclComm_t group_ = nullptr;
  typename Runtime::Event written_{}, summed_{};  // by kernels; by the library
  bool has_begun_ = false;
  int exceptions_ = std::uncaught_exceptions();  // under way when it was made
};

}  // namespace phyllo::inline PHYLLO_ISA

#endif

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace phyllo {

/// Message passing by MPI, staged through the host where the device's memory needs it.
///
/// state    a duplicate of the caller's communicator; requests in flight; a host buffer, sized by
///          `reserve`, where the execution space's memory cannot be reached from the host
/// errors   run: an MPI call that fails -> Error naming rank, call and MPI's own message
/// numerics sums in an order that MPI chooses, so bits may change with the number of ranks
/// cost     MPI_THREAD_FUNNELED suffices: all calls come from the caller's thread
/// source   MPI: A Message-Passing Interface Standard, version 4.1, §6
class Mpi {
 public:
  Mpi(MPI_Comm communicator) {  // NOLINT: a communicator is what the caller has
    if (communicator == MPI_COMM_NULL)
      throw Error(
          "Mpi: expected a communicator that this rank belongs to, got MPI_COMM_NULL. Leave out "
          "ranks that do not train.");
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }
  Mpi(Mpi const&) = delete;
  Mpi& operator=(Mpi const&) = delete;
  ~Mpi() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  }

  static constexpr char const* name = "mpi";
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Room for `bytes` of gradients in flight, so that nothing is allocated later.
  template <class Space> void reserve(Space const&, long bytes) {
    pending_.reserve(64);
    if constexpr (!reaches_host<Space>)
      if (staging_.extent(0) < std::size_t(bytes))
        staging_ = Staging("phyllo/mpi staging", std::size_t(bytes));
  }

  /// Blocking sum of device data over all ranks, in place.
  template <class Space, class T> void sum(Space const& exec, T* data, long count) {
    begin(exec, data, count);
    finish(exec);
  }

  /// Starts a sum over all ranks; waits for the instance, whose kernels wrote the data.
  template <class Space, class T> void begin(Space const& exec, T* data, long count) {
    T* host = data;
    if constexpr (!reaches_host<Space>) host = stage(exec, data, count);
    exec.fence("phyllo: gradients are complete");
    for (long first = 0; first < count; first += INT_MAX) {
      int const part = int(count - first < INT_MAX ? count - first : INT_MAX);
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Iallreduce(MPI_IN_PLACE, host + first, part, type_of<T>(), MPI_SUM, communicator_,
                           &request),
            "MPI_Iallreduce");
      pending_.push_back({request, host + first, data + first, part * sizeof(T)});
    }
  }

  /// Completes everything begun.
  template <class Space> void finish(Space const& exec) {
    for (Pending& p : pending_) {
      check(MPI_Wait(&p.request, MPI_STATUS_IGNORE), "MPI_Wait");
      if (p.host != p.device) copy_back(exec, p);
    }
    pending_.clear();
    staged_ = 0;
  }

  /// Gives MPI the chance to move messages; tests what is in flight.
  void progress() {
    for (Pending& p : pending_) {
      int done = 0;
      if (p.request != MPI_REQUEST_NULL)
        check(MPI_Test(&p.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
  }

  /// Sum of `count` over the ranks below this one.
  long exclusive_sum(long count) {
    long sum = 0;
    check(MPI_Exscan(&count, &sum, 1, MPI_LONG, MPI_SUM, communicator_), "MPI_Exscan");
    return rank_ == 0 ? 0 : sum;
  }

 private:
  struct Pending {
    MPI_Request request;
    void* host;
    void* device;
    std::size_t bytes;
  };
  using Staging = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;

  template <class Space>
  static constexpr bool reaches_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

  template <class T> static MPI_Datatype type_of() {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "Mpi: gradients are float or double.");
    if constexpr (std::is_same_v<T, float>)
      return MPI_FLOAT;
    else
      return MPI_DOUBLE;
  }

  template <class Space, class T> T* stage(Space const& exec, T* data, long count) {
    std::size_t const bytes = std::size_t(count) * sizeof(T);
    if (staged_ + bytes > staging_.extent(0))
      throw Error("Mpi: expected at most " + std::to_string(staging_.extent(0)) +
                  " bytes in flight, got " + std::to_string(staged_ + bytes) +
                  ". Call reserve with the size of the gradients first.");
    T* const host = reinterpret_cast<T*>(staging_.data() + staged_);
    staged_ += (bytes + 63) / 64 * 64;
    using Device = Kokkos::View<T*, typename Space::memory_space, Kokkos::MemoryUnmanaged>;
    using Host = Kokkos::View<T*, Kokkos::SharedHostPinnedSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(exec, Host(host, std::size_t(count)), Device(data, std::size_t(count)));
    return host;
  }

  template <class Space> void copy_back(Space const& exec, Pending const& p) {
    using Device = Kokkos::View<std::byte*, typename Space::memory_space, Kokkos::MemoryUnmanaged>;
    using Host = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(exec, Device(static_cast<std::byte*>(p.device), p.bytes),
                      Host(static_cast<std::byte*>(p.host), p.bytes));
  }

  void check(int code, char const* call) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Error(std::string("Mpi: ") + call + " failed on rank " + std::to_string(rank_) + ": " +
                std::string(text, std::size_t(length)) + ".");
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::vector<Pending> pending_;
  Staging staging_;
  std::size_t staged_ = 0;
};

}  // namespace phyllo

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/mpi_communicator.hpp>
#include <phyllo/comm/mpi/mpi_device_memory.hpp>
#include <phyllo/comm/transport/host_mirror.hpp>
#include <phyllo/comm/transport/shares.hpp>
#include <phyllo/comm/transport/transport.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/warning.hpp>

#include <atomic>
#include <climits>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Settings of an Mpi, the same on every rank.
///
/// errors   a largest count below 1, a time-out below 0 -> Error, at construction
/// numerics library_sums: the order is that of MPI's all-reduce, which may depend on the count
/// cost     device_memory implies MPI's sums, because a host cannot add device memory. Nothing
///          overlaps with it where MPI has no non-blocking collective calls on device memory.
struct MpiOptions {
  bool staged = false;         // through a copy on the host even where MPI could read the data
  bool device_memory = false;  // this MPI reads the device's, by your word; GpuAwareMpi finds out
  Misspelt<Option::device_memory> gpu_aware = {}, cuda_aware = {};
  // Sums by MPI's own all-reduce instead of our messages, for networks that add numbers themselves.
  bool library_sums = false;
  long largest_count = INT_MAX;  // numbers in one MPI call; longer sums take several
  Misspelt<Option::largest_count> max_count = {};
  // Seconds that one call waits for the other ranks; 0: for ever. Ten minutes outlast a checkpoint
  // that one rank writes, and cost a job that has lost a rank no more than that.
  double timeout = 600;
};

/// Sums over the ranks of an MPI communicator, with any MPI, which gets host memory only. Data in
/// host memory are summed in place, data of a device through a pinned copy.
///
/// state    a duplicate of the caller's communicator; construction is collective
/// threads  the thread that initialised MPI, and no other
/// errors   no or an unsuitable communicator, MPI not running, whatever MPI refuses -> Error; other
///          ranks late beyond the time-out, gone by an exception or dead -> RankFailure
/// numerics the order of a sum depends on the number of ranks only, not on buckets; that of
///          library_sums is MPI's
/// cost     the instance is fenced before data are passed to MPI and after a copy has come back;
///          where the host cannot access device memory, rank 0 warns once
class Mpi {
 public:
  static constexpr char const* name = "Mpi";

  Mpi(MPI_Comm communicator, MpiOptions const& options = {})
      : communicator_(communicator, options.largest_count, options.timeout,
                      collectives_of(options)),
        staged_(options.staged),
        device_memory_(options.device_memory) {
    if (rank() == 0 && size() > 1 && !staged_ && !direct<Kokkos::DefaultExecutionSpace>())
      warn_of_copies();
  }
  Mpi(Mpi&&) noexcept = default;
  Mpi& operator=(Mpi&&) = delete;
  ~Mpi() {
    // Only an exception leaves something under way, and MPI still writes to memory that goes next.
    communicator_.settle(requests_);
  }

  bool reads_device() const { return device_memory_; }
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }

  /// Prepares for many calls of `begin` with the same data: a persistent operation where MPI sums
  /// them. Collective; the data stay at this address as long as this object lives.
  template <class Space, Summable T> void plan(Space const& exec, T* data, long count) {
    if (!has_work(count) || !direct<Space>()) return;
    exec.fence(launch_label("phyllo::Mpi::plan: the data are there"));
    communicator_.plan_sum(data, count);
  }

  /// Allocates memory for `transfers` with `bytes` in all under way at a time.
  template <class Space> void reserve(Space const& exec, long bytes, long transfers) {
    if (size() == 1) return;
    finish(exec);
    requests_.reserve(std::size_t(transfers));
    if (direct<Space>()) return;
    arrivals_.reserve(std::size_t(transfers));
    if (transfers == 1) sum_mirror_.reserve(HostMirror::rounded(bytes));
    mirror_.reserve(HostMirror::rounded(bytes) + transfers * HostMirror::alignment);
  }

  template <class Space, Summable T> void sum(Space const& exec, T* data, long count) {
    if (!has_work(count)) return;
    if (direct<Space>()) {
      exec.fence(launch_label("phyllo::Mpi::sum: the data are complete"));
      communicator_.sum(data, count);
      return;
    }
    long const bytes = count * long(sizeof(T));
    sum_mirror_.reserve(HostMirror::rounded(bytes));
    std::byte* const host = sum_mirror_.take(bytes);
    sum_mirror_.give_back();
    send(exec, host, data, bytes);
    exec.fence(launch_label("phyllo::Mpi::sum: the data are on the host"));
    communicator_.sum(reinterpret_cast<T*>(host), count);
    receive(exec, {data, host, bytes});
    exec.fence(launch_label("phyllo::Mpi::sum: the host's copy is free again"));
  }

  template <class Space, Summable T> void begin(Space const& exec, T* data, long count) {
    if (!has_work(count)) return;
    if (direct<Space>()) {
      exec.fence(launch_label("phyllo::Mpi::begin: the data are complete"));
      communicator_.begin_sum(data, count, requests_);
      return;
    }
    long const bytes = count * long(sizeof(T));
    make_room(exec, bytes);
    std::byte* const host = mirror_.take(bytes);
    send(exec, host, data, bytes);
    exec.fence(launch_label("phyllo::Mpi::begin: the data are on the host"));
    arrivals_.push_back({data, host, bytes});
    communicator_.begin_sum(reinterpret_cast<T*>(host), count, requests_);
  }

  /// This rank's share of data, from shares[rank()] to shares[rank() + 1], becomes its sum over the
  /// ranks; the other shares are unchanged. data has shares[size()] numbers.
  template <class Space, Summable T>
  void begin_reduce_scatter(Space const& exec, T* data, Shares const& shares) {
    if (!has_work(shares.end() - shares.begin())) return;
    Counts const& counts = counts_of(shares);
    long const own = counts.count[std::size_t(rank())] * long(sizeof(T));
    long const all = direct<Space>() ? 0 : (shares.end() - shares.begin()) * long(sizeof(T));
    make_room(exec, HostMirror::rounded(all) + HostMirror::rounded(own));
    T* sent = data + shares.begin();
    if (!direct<Space>()) {
      std::byte* const host = mirror_.take(all);
      send(exec, host, sent, all);
      sent = reinterpret_cast<T*>(host);
    }
    std::byte* const received = mirror_.take(own);
    exec.fence(launch_label("phyllo::Mpi::begin_reduce_scatter: the data are complete"));
    if (own > 0) arrivals_.push_back({data + shares.first(rank()), received, own});
    communicator_.begin_reduce_scatter(sent, reinterpret_cast<T*>(received), counts.count.data(),
                                       requests_);
  }

  /// Every rank gets the shares of all others.
  template <class Space, class T>
  void begin_all_gather(Space const& exec, T* data, Shares const& shares) {
    if (!has_work(shares.end() - shares.begin())) return;
    Counts const& counts = counts_of(shares);
    T* moved = data + shares.begin();
    if (!direct<Space>()) {
      long const all = (shares.end() - shares.begin()) * long(sizeof(T));
      make_room(exec, all);
      std::byte* const host = mirror_.take(all);
      long const own = counts.begin[std::size_t(rank())] * long(sizeof(T));
      send(exec, host + own, moved + counts.begin[std::size_t(rank())],
           counts.count[std::size_t(rank())] * long(sizeof(T)));
      arrivals_.push_back({moved, host, all});
      moved = reinterpret_cast<T*>(host);
    }
    exec.fence(launch_label("phyllo::Mpi::begin_all_gather: the data are complete"));
    communicator_.begin_all_gather(moved, counts.count.data(), counts.begin.data(), requests_);
  }

  /// The same for shares of any size: that of rank r is data[bounds[r] .. bounds[r + 1]).
  template <class Space, Summable T>
  void begin_all_gather(Space const& exec, T* data, long const* bounds) {
    long const first = bounds[0], count = bounds[size()] - first;
    if (!has_work(count)) return;
    if (direct<Space>()) {
      exec.fence(launch_label("phyllo::Mpi::begin_all_gather: the data are complete"));
      communicator_.begin_all_gather(data, bounds, requests_);
      return;
    }
    long const bytes = count * long(sizeof(T));
    make_room(exec, bytes);
    std::byte* const host = mirror_.take(bytes);
    long const own = (bounds[rank()] - first) * long(sizeof(T));
    send(exec, host + own, data + bounds[rank()],
         (bounds[rank() + 1] - bounds[rank()]) * long(sizeof(T)));
    exec.fence(launch_label("phyllo::Mpi::begin_all_gather: the data are on the host"));
    arrivals_.push_back({data + first, host, bytes});
    communicator_.begin_all_gather(reinterpret_cast<T*>(host) - first, bounds, requests_);
  }

  /// receive[r count .. (r + 1) count) becomes rank r's send[rank() count ..).
  template <class Space, class T>
  void begin_all_to_all(Space const& exec, T* send_from, T* receive_to, long count) {
    if (count == 0) return;
    long const all = count * size() * long(sizeof(T));
    T *sent = send_from, *received = receive_to;
    if (!direct<Space>()) {
      make_room(exec, 2 * HostMirror::rounded(all));
      sent = reinterpret_cast<T*>(mirror_.take(all));
      received = reinterpret_cast<T*>(mirror_.take(all));
      send(exec, reinterpret_cast<std::byte*>(sent), send_from, all);
      arrivals_.push_back({receive_to, reinterpret_cast<std::byte*>(received), all});
    }
    exec.fence(launch_label("phyllo::Mpi::begin_all_to_all: the data are complete"));
    communicator_.begin_all_to_all(sent, received, int(count), requests_);
  }

  /// A transport of the ranks with this color, in the order of their ranks here; collective.
  Mpi split(int color) const { return Mpi(communicator_.split(color), staged_, device_memory_); }
  /// The lowest rank on this rank's node; collective.
  int first_of_node() const { return communicator_.first_of_node(); }
  /// The smallest of the ranks' counts; collective.
  long least(long count) const { return communicator_.least(count); }

  template <class Space> void finish(Space const& exec) {
    communicator_.wait(requests_);
    counts_used_ = 0;
    if (arrivals_.empty()) {
      mirror_.give_back();
      return;
    }
    for (Arrival const& arrival : arrivals_) receive(exec, arrival);
    arrivals_.clear();
    mirror_.give_back();
    exec.fence(launch_label("phyllo::Mpi::finish: the host's copies are free again"));
  }

  void progress() { communicator_.test(requests_); }

  /// counts[r] becomes the count of rank r; blocking, in host memory.
  void all_gather(long count, long* counts) const { communicator_.all_gather(count, counts); }

  long exclusive_sum(long count) const {
    return size() == 1 ? 0 : communicator_.exclusive_sum(count);
  }

 private:
  struct Arrival {
    void* data = nullptr;       // on the device
    std::byte* host = nullptr;  // in a mirror
    long bytes = 0;
  };
  struct Counts {
    std::vector<int> count, begin;  // (size()), begin from the first share's
  };
  template <class MemorySpace>
  using Bytes = Kokkos::View<std::byte*, Kokkos::LayoutRight, MemorySpace,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using HostBytes = Bytes<Kokkos::SharedHostPinnedSpace>;

  static MpiCollectives collectives_of(MpiOptions const& options) {
    if (options.device_memory)
      return starts_on_device_memory ? MpiCollectives::nonblocking : MpiCollectives::blocking;
    return options.library_sums ? MpiCollectives::nonblocking : MpiCollectives::messages;
  }
  template <class Space> bool direct() const {
    using memory_space = typename Space::memory_space;
    return (Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory_space>::accessible ||
            device_memory_) &&
           !staged_;
  }
  // Once a process, not once a policy or trainer.
  static void warn_of_copies() {
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true))
      warn(std::string("Mpi copies messages from ") +
           Kokkos::DefaultExecutionSpace::memory_space::name() +
           " to the host before it sends them. Use GpuAwareMpi, Nccl or Rccl where MPI can read "
           "device memory.");
  }
  bool has_work(long count) const {
    if (count < 0)
      throw Error("Mpi on rank " + std::to_string(rank()) +
                  ": expected a count of numbers that is 0 or more, got " + std::to_string(count) +
                  ".");
    return count > 0 && size() > 1;
  }
  template <class Space>
  static void send(Space const& exec, std::byte* host, void* data, long bytes) {
    Bytes<typename Space::memory_space> const device(static_cast<std::byte*>(data),
                                                     std::size_t(bytes));
    Kokkos::deep_copy(exec, HostBytes(host, std::size_t(bytes)), device);
  }
  template <class Space> static void receive(Space const& exec, Arrival const& arrival) {
    Bytes<typename Space::memory_space> const device(static_cast<std::byte*>(arrival.data),
                                                     std::size_t(arrival.bytes));
    Kokkos::deep_copy(exec, device, HostBytes(arrival.host, std::size_t(arrival.bytes)));
  }

  Mpi(MpiCommunicator&& communicator, bool staged, bool device_memory)
      : communicator_(std::move(communicator)), staged_(staged), device_memory_(device_memory) {}

  template <class Space> void make_room(Space const& exec, long bytes) {
    if (mirror_.has_room(bytes)) return;
    // Without reserve, or beyond it: what is under way comes in first, on every rank alike.
    long const needed = mirror_.used() + HostMirror::rounded(bytes);
    finish(exec);
    mirror_.reserve(needed);
  }
  // MPI reads counts until an operation completes.
  Counts const& counts_of(Shares const& shares) {
    if (counts_used_ == counts_.size()) counts_.emplace_back();
    Counts& counts = counts_[counts_used_++];
    counts.count.clear();
    counts.begin.clear();
    for (int r = 0; r < size(); ++r) {
      counts.count.push_back(int(shares.last(r) - shares.first(r)));
      counts.begin.push_back(int(shares.first(r) - shares.begin()));
    }
    return counts;
  }

  MpiCommunicator communicator_;
  bool staged_, device_memory_;
  // Of what is under way, in the order of begin: empty after finish.
  std::vector<MPI_Request> requests_;
  std::vector<Arrival> arrivals_;  // of what MPI does not write where it belongs
  std::deque<Counts> counts_;
  std::size_t counts_used_ = 0;
  HostMirror mirror_{"phyllo::Mpi/buckets on the host"};
  HostMirror sum_mirror_{"phyllo::Mpi/sum on the host"};  // buckets may be under way meanwhile
};

}  // namespace phyllo::inline PHYLLO_ISA

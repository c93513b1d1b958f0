// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/keep_for_ever.hpp>
#include <phyllo/comm/mpi/mpi_error.hpp>
#include <phyllo/comm/mpi/mpi_roll_call.hpp>
#include <phyllo/comm/mpi/mpi_sums.hpp>
#include <phyllo/comm/mpi/mpi_watch.hpp>
#include <phyllo/policy/communication.hpp>

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The calls by which a communicator moves data; the same on all ranks.
enum class MpiCollectives {
  messages,     // sums by messages of our own, which the host adds; all else as `nonblocking`
  nonblocking,  // MPI's non-blocking calls, and its persistent ones for sums that were planned
  blocking      // MPI's blocking calls
};

/// A duplicate of the caller's communicator, with the calls on host memory that sums over ranks
/// need. The caller initializes MPI before (MPI_THREAD_FUNNELED is sufficient) and makes all calls
/// from the thread that did so.
///
/// state    a duplicate, so that no message meets one of the caller's; construction is collective
/// errors   no communicator, one between two groups, MPI not running, whatever MPI refuses ->
///          Error; ranks that are late, have left by an exception or are dead -> RankFailure
///          (MpiWatch)
/// cost     a sum of n numbers sends 2 n (1 - 1/ranks) from each rank and receives as many, in 2
///          log2(ranks) messages; the calling thread adds numbers as they arrive. Blocking calls of
///          MPI follow a barrier that can time out.
class MpiCommunicator {
 public:
  /// largest_count: numbers in one MPI call, whose count is an int; longer sums use several calls.
  /// timeout: seconds that one call waits for the other ranks; 0: no limit.
  explicit MpiCommunicator(MPI_Comm communicator, long largest_count = INT_MAX, double timeout = 0,
                           MpiCollectives collectives = MpiCollectives::messages)
      : largest_count_(largest_count), timeout_(timeout), collectives_(collectives) {
    if (!mpi_runs())
      throw Error(
          "Mpi: expected a running MPI, got one that was not initialized or is finalized. Call "
          "MPI_Init_thread first, and MPI_Finalize after the last use.");
    if (communicator == MPI_COMM_NULL)
      throw Error(
          "Mpi: expected a communicator, got MPI_COMM_NULL. A rank that MPI_Comm_split left out "
          "cannot take part.");
    if (largest_count < 1 || largest_count > INT_MAX)
      throw Error("Mpi: expected a largest count from 1 to " + std::to_string(INT_MAX) + ", got " +
                  std::to_string(largest_count) + ".");
    if (!(timeout >= 0))
      throw Error("Mpi: expected a time-out of 0 or more seconds, got " + std::to_string(timeout) +
                  ".");
    int between_groups = 0;
    check_mpi(MPI_Comm_test_inter(communicator, &between_groups), "MPI_Comm_test_inter", 0);
    if (between_groups != 0)
      throw Error(
          "Mpi: expected a communicator within one group, got an intercommunicator. Merge it with "
          "MPI_Intercomm_merge.");
    check_mpi(MPI_Comm_rank(communicator, &rank_), "MPI_Comm_rank", 0);
    check_mpi(MPI_Comm_size(communicator, &size_), "MPI_Comm_size", rank_);
    numbers_ = std::make_unique<long[]>(std::size_t(size_) + 1);
    duplicate(communicator);
    // The caller's handler, which the duplicate has inherited, may end the program.
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler",
              rank_);
    watch_ = std::make_unique<MpiWatch>(communicator_, rank_, size_, timeout);
  }
  MpiCommunicator(MpiCommunicator&& other) noexcept
      : communicator_(std::exchange(other.communicator_, MPI_COMM_NULL)),
        rank_(other.rank_),
        size_(other.size_),
        largest_count_(other.largest_count_),
        timeout_(other.timeout_),
        collectives_(other.collectives_),
        planned_(std::move(other.planned_)),
        buckets_(std::move(other.buckets_)),
        blocking_(std::move(other.blocking_)),
        numbers_(std::move(other.numbers_)),
        watch_(std::move(other.watch_)) {}
  MpiCommunicator& operator=(MpiCommunicator&&) = delete;
  ~MpiCommunicator() {
    // An object that outlives MPI_Finalize has nothing left to free; and freeing may wait for
    // other ranks.
    if (communicator_ == MPI_COMM_NULL || !mpi_runs() || watch_->is_over()) return;
    for (Planned& sum : planned_) MPI_Request_free(&sum.request);
    MPI_Comm_free(&communicator_);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// data[0 .. count) becomes its sum over the ranks; buckets under way advance meanwhile.
  template <Summable T> void sum(T* data, long count) {
    if (collectives_ == MpiCollectives::messages) {
      begin_pieces(*blocking_, data, count);
      return wait(*blocking_);
    }
    watch_->arrive("MPI_Allreduce");
    for (long first = 0; first != count;) {
      int const piece = int(std::min(count - first, largest_count_));
      watch_->check(
          MPI_Allreduce(MPI_IN_PLACE, data + first, piece, type<T>(), MPI_SUM, communicator_),
          "MPI_Allreduce");
      first += piece;
    }
  }

  /// Starts the same; data are in use until `wait`. Sums that MPI makes append requests.
  template <Summable T> void begin_sum(T* data, long count, std::vector<MPI_Request>& requests) {
    if (collectives_ == MpiCollectives::messages) return begin_pieces(*buckets_, data, count);
    if (collectives_ == MpiCollectives::blocking) return sum(data, count);
    for (long first = 0; first != count;) {
      int const piece = int(std::min(count - first, largest_count_));
      if (MPI_Request const planned = planned_sum(data + first, piece, type<T>());
          planned != MPI_REQUEST_NULL) {
        requests.push_back(planned);
        watch_->start("MPI_Start", [&] { return MPI_Start(&requests.back()); });
      } else {
        requests.push_back(MPI_REQUEST_NULL);  // before the call: there is no throwing after it
        watch_->start("MPI_Iallreduce", [&] {
          return MPI_Iallreduce(MPI_IN_PLACE, data + first, piece, type<T>(), MPI_SUM,
                                communicator_, &requests.back());
        });
      }
      first += piece;
    }
  }

  /// Sums of these data will be begun again and again: where MPI sums them and has persistent
  /// operations (MPI 4), this makes one. Collective; data stay where they are as long as this does.
  template <Summable T> void plan_sum(T* data, long count) {
#if MPI_VERSION >= 4
    if (collectives_ != MpiCollectives::nonblocking) return;
    watch_->arrive("MPI_Allreduce_init");
    for (long first = 0; first != count;) {
      int const piece = int(std::min(count - first, largest_count_));
      MPI_Request request = MPI_REQUEST_NULL;
      watch_->check(MPI_Allreduce_init(MPI_IN_PLACE, data + first, piece, type<T>(), MPI_SUM,
                                       communicator_, MPI_INFO_NULL, &request),
                    "MPI_Allreduce_init");
      planned_.push_back({data + first, piece, type<T>(), request});
      first += piece;
    }
#else
    static_cast<void>(data);
    static_cast<void>(count);
#endif
  }

  /// Starts: receive[0 .. counts[rank]) becomes the sum over the ranks of this rank's share of
  /// send, whose shares stand in the order of the ranks. Counts stay as they are until it
  /// completes.
  template <Summable T>
  void begin_reduce_scatter(T const* send, T* receive, int const* counts,
                            std::vector<MPI_Request>& requests) const {
    if (collectives_ == MpiCollectives::blocking) {
      return watch_->block("MPI_Reduce_scatter", [&] {
        return MPI_Reduce_scatter(send, receive, counts, type<T>(), MPI_SUM, communicator_);
      });
    }
    requests.push_back(MPI_REQUEST_NULL);
    watch_->start("MPI_Ireduce_scatter", [&] {
      return MPI_Ireduce_scatter(send, receive, counts, type<T>(), MPI_SUM, communicator_,
                                 &requests.back());
    });
  }

  /// Starts: every rank gets data[begins[r] .. begins[r] + counts[r]) of each rank r.
  template <class T>
  void begin_all_gather(T* data, int const* counts, int const* begins,
                        std::vector<MPI_Request>& requests) const {
    if (collectives_ == MpiCollectives::blocking) {
      return watch_->block("MPI_Allgatherv", [&] {
        return MPI_Allgatherv(MPI_IN_PLACE, 0, bits<T>(), data, counts, begins, bits<T>(),
                              communicator_);
      });
    }
    requests.push_back(MPI_REQUEST_NULL);
    watch_->start("MPI_Iallgatherv", [&] {
      return MPI_Iallgatherv(MPI_IN_PLACE, 0, bits<T>(), data, counts, begins, bits<T>(),
                             communicator_, &requests.back());
    });
  }

  /// Starts: receive[r count .. (r + 1) count) becomes rank r's send[rank count ..).
  template <class T>
  void begin_all_to_all(T const* send, T* receive, int count,
                        std::vector<MPI_Request>& requests) const {
    if (collectives_ == MpiCollectives::blocking) {
      return watch_->block("MPI_Alltoall", [&] {
        return MPI_Alltoall(send, count, bits<T>(), receive, count, bits<T>(), communicator_);
      });
    }
    requests.push_back(MPI_REQUEST_NULL);
    watch_->start("MPI_Ialltoall", [&] {
      return MPI_Ialltoall(send, count, bits<T>(), receive, count, bits<T>(), communicator_,
                           &requests.back());
    });
  }

  /// A communicator of the ranks with this color, in the order of their ranks here; collective.
  MpiCommunicator split(int color) const {
    watch_->arrive("MPI_Comm_split");
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(communicator_, color, rank_, &part), "MPI_Comm_split", rank_);
    MpiCommunicator result(part, largest_count_, timeout_, collectives_);
    MPI_Comm_free(&part);
    return result;
  }

  /// The lowest rank on this rank's node, which is where memory can be shared; collective.
  int first_of_node() const {
    watch_->arrive("MPI_Comm_split_type");
    MPI_Comm node = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(communicator_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type", rank_);
    int first = rank_;
    int const code = MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    check_mpi(code, "MPI_Bcast", rank_);
    return first;
  }

  /// Starts a gather to all ranks: rank r has data[bounds[r] .. bounds[r + 1]). One broadcast for
  /// each rank with data, because broadcasts have no count arrays that would have to stay in
  /// memory.
  template <Summable T>
  void begin_all_gather(T* data, long const* bounds, std::vector<MPI_Request>& requests) const {
    bool const blocking = collectives_ == MpiCollectives::blocking;
    if (blocking) watch_->arrive("MPI_Bcast");
    for (int root = 0; root < size_; ++root)
      for (long first = bounds[root]; first < bounds[root + 1];) {
        int const piece = int(std::min(bounds[root + 1] - first, largest_count_));
        if (blocking) {
          watch_->check(MPI_Bcast(data + first, piece, type<T>(), root, communicator_),
                        "MPI_Bcast");
        } else {
          requests.push_back(MPI_REQUEST_NULL);
          watch_->start("MPI_Ibcast", [&] {
            return MPI_Ibcast(data + first, piece, type<T>(), root, communicator_,
                              &requests.back());
          });
        }
        first += piece;
      }
  }

  /// counts[r] becomes the count of rank r.
  void all_gather(long count, long* counts) const {
    exchange(count, "MPI_Iallgather", [&](long* sent, long* received, MPI_Request* request) {
      return MPI_Iallgather(sent, 1, MPI_LONG, received, 1, MPI_LONG, communicator_, request);
    });
    std::copy_n(numbers_.get() + 1, size_, counts);
  }

  /// Waits for all sums and requests, and clears them.
  void wait(std::vector<MPI_Request>& requests) {
    if (buckets_) wait(*buckets_);
    if (!requests.empty())
      watch_->wait(requests.data(), requests.size(), "a non-blocking collective call");
    requests.clear();
  }

  /// Advances all messages: ours, and most libraries', advance in calls only.
  void test(std::vector<MPI_Request>& requests) {
    if (!buckets_->empty()) watch_->move_on([&] { buckets_->advance(); });
    if (!requests.empty()) watch_->test(requests, "a non-blocking collective call");
  }

  /// For destructors: waits for what can still complete.
  void settle(std::vector<MPI_Request>& requests) {
    if (watch_ && mpi_runs())
      watch_->settle(requests, [&] { return !buckets_ || buckets_->advance(); });
  }

  /// The sum of count over the ranks below this one.
  long exclusive_sum(long count) const {
    exchange(count, "MPI_Iexscan", [&](long* sent, long* received, MPI_Request* request) {
      return MPI_Iexscan(sent, received, 1, MPI_LONG, MPI_SUM, communicator_, request);
    });
    return rank_ == 0 ? 0 : numbers_[1];  // MPI leaves rank 0's undefined
  }

  /// The smallest of the ranks' counts.
  long least(long count) const {
    exchange(count, "MPI_Iallreduce", [&](long* sent, long* received, MPI_Request* request) {
      return MPI_Iallreduce(sent, received, 1, MPI_LONG, MPI_MIN, communicator_, request);
    });
    return numbers_[1];
  }

 private:
  void duplicate(MPI_Comm communicator) {
    auto made = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Comm_idup(communicator, made.get(), &request), "MPI_Comm_idup", rank_);
    try {
      MpiWatch(MPI_COMM_NULL, rank_, size_, timeout_).wait(&request, 1, "MPI_Comm_idup");
    } catch (RankFailure const&) {
      keep_for_ever(std::move(made));
      throw;
    }
    communicator_ = *made;
  }
  // One number of each rank, numbers_[0], to numbers_[1 ..] of all. The numbers outlive the call.
  template <class Call> void exchange(long number, char const* operation, Call const& call) const {
    MPI_Request request = MPI_REQUEST_NULL;
    watch_->start(operation, [&] {
      numbers_[0] = number;
      return call(numbers_.get(), numbers_.get() + 1, &request);
    });
    try {
      watch_->wait(&request, 1, operation);
    } catch (RankFailure const&) {
      keep_for_ever(std::move(numbers_));
      numbers_ = std::make_unique<long[]>(std::size_t(size_) + 1);
      throw;
    }
  }

  template <class T> static MPI_Datatype type() {
    if constexpr (std::same_as<T, float>)
      return MPI_FLOAT;
    else
      return MPI_DOUBLE;
  }
  // Numbers that are only moved.
  template <class T> static MPI_Datatype bits() {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 2)
      return MPI_UINT16_T;
    else if constexpr (sizeof(T) == 4)
      return MPI_UINT32_T;
    else
      return MPI_UINT64_T;
  }

  template <class T> void begin_pieces(MpiSums& sums, T* data, long count) {
    for (long first = 0; first != count;) {
      long const piece = std::min(MpiSums::piece_of<T>(count - first), largest_count_);
      if (sums.is_full()) wait(sums);
      sums.begin(communicator_, rank_, size_, *watch_, data + first, piece);
      first += piece;
    }
  }
  void wait(MpiSums& sums) {
    if (!sums.empty())
      watch_->wait_until("a sum", [&] {
        MpiSums::advance_all();
        return sums.advance();
      });
    sums.clear();
  }

  // A persistent operation.
  struct Planned {
    void const* data;
    int count;
    MPI_Datatype type;
    MPI_Request request;
  };
  MPI_Request planned_sum(void const* data, int count, MPI_Datatype type) const {
    for (Planned const& sum : planned_)
      if (sum.data == data && sum.count == count && sum.type == type) return sum.request;
    return MPI_REQUEST_NULL;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  long largest_count_;
  double timeout_;  // seconds
  MpiCollectives collectives_;
  std::vector<Planned> planned_;
  // The roll call receives messages with its tag from any rank.
  static_assert(2 * MpiSums::most <= std::size_t(MpiRollCall::tag));
  std::unique_ptr<MpiSums> buckets_ = std::make_unique<MpiSums>(0);
  std::unique_ptr<MpiSums> blocking_ = std::make_unique<MpiSums>(int(MpiSums::most));
  mutable std::unique_ptr<long[]> numbers_;  // (size + 1)
  std::unique_ptr<MpiWatch> watch_;
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/mpi_error.hpp>
#include <phyllo/comm/mpi/mpi_notice.hpp>

#include <mpi.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Finds out which ranks are missing, once a rank has waited too long or leaves by an exception.
///
/// Two keepers, ranks 0 and size / 2 (on different nodes if there are several), ask all ranks
/// whether they wait, collect answers for a while, and send the list of ranks that did not answer
/// to all: some messages for each rank, for any number of ranks. Nothing is sent before something
/// has gone wrong, and no answer takes longer than a second. Errors of MPI meanwhile are ignored,
/// because something is broken already.
///
/// state    messages under way; those that no rank receives stay allocated
class MpiRollCall {
 public:
  static constexpr int tag = 32749;  // below the 32767 that every MPI allows

  MpiRollCall(MPI_Comm communicator, int rank, int size)
      : communicator_(communicator), rank_(rank), size_(size) {}
  MpiRollCall(MpiRollCall const&) = delete;
  MpiRollCall& operator=(MpiRollCall const&) = delete;
  ~MpiRollCall() {
    // Small messages leave at once. MPI may still read one that did not: it is never given back.
    int all_sent = requests_.empty();
    if (!requests_.empty() && mpi_runs())
      MPI_Testall(int(requests_.size()), requests_.data(), &all_sent, MPI_STATUSES_IGNORE);
    if (all_sent == 0)
      for (auto& notice : sent_) static_cast<void>(notice.release());
  }

  /// Whether another rank has given up, or has left before this rank's call number `calls`: this
  /// rank must then take part. Calls that a rank made before it left can still complete.
  bool is_called(long calls) {
    for (int from = 0; auto const notice = arrived(from);) waiting_.push_back({from, *notice});
    for (auto const& [from, notice] : waiting_)
      if (notice.kind != MpiNotice::Kind::leaves || notice.calls < calls) return true;
    return false;
  }
  /// Whether a rank has left at all.
  bool is_left() const { return !waiting_.empty(); }

  /// Notifies the others that an exception ends this rank's part; does not wait.
  void leave(long calls) {
    for (int const keeper : keepers())
      send(keeper, {.kind = MpiNotice::Kind::leaves, .calls = calls});
  }

  /// Who is missing; on all ranks that wait, whichever began.
  MpiNotice take(long calls) {
    heard_.assign(std::size_t(size_), {});
    heard_[std::size_t(rank_)] = {.kind = MpiNotice::Kind::waits, .calls = calls};
    for (int const keeper : keepers()) send(keeper, *heard_[std::size_t(rank_)]);
    return is_keeper() ? keep() : listen();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds keepers_patience{250}, patience{500};

  std::vector<int> keepers() const {
    return size_ < 3 ? std::vector<int>{1 - rank_} : std::vector<int>{0, size_ / 2};
  }
  bool is_keeper() const { return rank_ == 0 || rank_ == size_ / 2; }

  void send(int to, MpiNotice const& notice) {
    if (to == rank_) return;
    sent_.push_back(std::make_unique<MpiNotice>(notice));
    requests_.push_back(MPI_REQUEST_NULL);
    MPI_Isend(sent_.back().get(), int(sizeof(MpiNotice)), MPI_BYTE, to, tag, communicator_,
              &requests_.back());
  }
  // The next notice, and its sender.
  std::optional<MpiNotice> receive(int& from) {
    if (waiting_.empty()) return arrived(from);
    MpiNotice const notice = waiting_.front().second;
    from = waiting_.front().first;
    waiting_.pop_front();
    return notice;
  }
  std::optional<MpiNotice> arrived(int& from) const {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, tag, communicator_, &there, &status) != MPI_SUCCESS ||
        there == 0)
      return {};
    MpiNotice notice;
    from = status.MPI_SOURCE;
    if (MPI_Recv(&notice, int(sizeof notice), MPI_BYTE, from, tag, communicator_,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return {};
    return notice;
  }

  MpiNotice keep() {
    for (int rank = 0; rank < size_; ++rank) send(rank, {.kind = MpiNotice::Kind::who_waits});
    int missing = size_ - 1;
    for (auto const begin = Clock::now(); Clock::now() - begin < keepers_patience;) {
      int from = 0;
      auto const notice = receive(from);
      if (!notice && missing == 0) break;
      if (!notice || notice->kind == MpiNotice::Kind::who_waits) continue;
      if (notice->kind == MpiNotice::Kind::absent) return *notice;  // the other keeper was faster
      if (!heard_[std::size_t(from)]) --missing;
      heard_[std::size_t(from)] = notice;
    }
    MpiNotice const verdict = absent();
    for (int rank = 0; rank < size_; ++rank) send(rank, verdict);  // late ranks read it later
    return verdict;
  }
  MpiNotice absent() const {
    MpiNotice silent{.kind = MpiNotice::Kind::absent, .absence = MpiNotice::Absence::silent};
    MpiNotice left{.kind = MpiNotice::Kind::absent, .absence = MpiNotice::Absence::left};
    MpiNotice behind{.kind = MpiNotice::Kind::absent, .absence = MpiNotice::Absence::behind};
    long most_calls = 0;
    for (auto const& notice : heard_)
      if (notice && notice->calls > most_calls) most_calls = notice->calls;
    for (int rank = 0; rank < size_; ++rank) {
      auto const& notice = heard_[std::size_t(rank)];
      if (!notice)
        silent.add(rank);
      else if (notice->kind == MpiNotice::Kind::leaves)
        left.add(rank);
      else if (notice->calls < most_calls)
        behind.add(rank);
    }
    // A rank that left is the cause, even if others are silent; one that is behind may wait too.
    return left.count > 0 ? left : silent.count > 0 ? silent : behind;
  }
  MpiNotice listen() {
    for (auto const begin = Clock::now(); Clock::now() - begin < patience;) {
      int from = 0;
      auto const notice = receive(from);
      if (notice && notice->kind == MpiNotice::Kind::absent) return *notice;
    }
    MpiNotice none{.kind = MpiNotice::Kind::absent};
    for (int const keeper : keepers()) none.add(keeper);
    return none;
  }

  MPI_Comm communicator_;
  int rank_, size_;
  std::vector<std::optional<MpiNotice>> heard_;    // of a keeper, by rank
  std::deque<std::pair<int, MpiNotice>> waiting_;  // arrived and not acted on, with their senders
  std::vector<std::unique_ptr<MpiNotice>> sent_;
  std::vector<MPI_Request> requests_;
};

}  // namespace phyllo::inline PHYLLO_ISA

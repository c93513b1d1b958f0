// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/mpi_watch.hpp>
#include <phyllo/policy/communication.hpp>

#include <mpi.h>
#include <Kokkos_Core.hpp>

#include <bit>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// One sum over the ranks of a communicator while it is under way, by messages of our own:
/// recursive halving with the nearest rank first, then recursive doubling; ranks beyond a power of
/// two give their numbers to a neighbour first (Thakur, Rabenseifner and Gropp, IJHPCA 19, 2005).
///
/// Open MPI's MPI_Iallreduce in place sends all numbers up a tree and down again, into memory that
/// it allocates each time (coll/libnbc): twice the bytes on 2 ranks, log2(ranks) times on many.
///
/// state    data and room are in use from start until advance has said true
/// errors   whatever MPI refuses
/// numerics of every number the same tree over the ranks, however the numbers are cut into sums;
///          all ranks get the same bits
/// cost     2 (1 - 1/ranks) times the bytes each way and 2 log2(ranks) messages of a rank; two more
///          with all bytes where ranks are no power of two
template <Summable T> class MpiHalvingSum {
 public:
  /// Elements of room for a sum of `count` numbers.
  static constexpr long room_size(long count, int size) {
    return std::has_single_bit(unsigned(size)) ? (count + 1) / 2 : count;
  }

  /// watch: receives the errors of MPI. All ranks use the same tag for the same sum, and different
  /// tags for sums that are under way together; count is at most INT_MAX.
  MpiHalvingSum(MPI_Comm communicator, int rank, int size, int tag, T* data, long count,
                MpiWatch& watch)
      : communicator_(communicator), watch_(&watch), rank_(rank), tag_(tag), data_(data) {
    int const power = int(std::bit_floor(unsigned(size)));
    rest_ = size - power;
    levels_ = std::countr_zero(unsigned(power));
    first_[0] = 0;
    last_[0] = count;
    bool const paired = rank < 2 * rest_;
    idle_ = paired && rank % 2 == 0;
    number_ = paired ? rank / 2 : rank - rest_;
    round_ = paired ? -1 : 0;
  }

  /// Sends the first message. room: for room_size(count, size) numbers, aligned for them.
  void start(void* room) {
    room_ = static_cast<T*>(room);
    begin_round();
  }

  /// Moves on as far as that needs no waiting; whether data holds the sum.
  bool advance() {
    while (!done_) {
      // One by one: MPI_Testall does not say what it was that failed.
      for (MPI_Request& request : requests_) {
        int arrived = 0;
        check(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE), "MPI_Test");
        if (arrived == 0) return false;
      }
      end_round();
    }
    return true;
  }

  /// Gives up a sum whose other ranks do not come: whether its room is free again.
  bool give_up() {
    if (done_) return true;
    done_ = true;
    int is_over = 1;
    if (requests_[0] != MPI_REQUEST_NULL) {
      MPI_Cancel(&requests_[0]);
      MPI_Test(&requests_[0], &is_over, MPI_STATUS_IGNORE);
    }
    return is_over != 0;
  }

 private:
  // Rounds: -1 to the neighbour; 0 .. levels - 1 halving; levels .. 2 levels - 1 doubling, by the
  // same pairs backwards; 2 levels back to the neighbour.
  void begin_round() {
    if (round_ == -1 && idle_) return send(rank_ + 1, 0, last_[0]);
    if (round_ == -1) return receive(rank_ - 1, room_, last_[0]);
    if (round_ == 2 * levels_) {
      if (rank_ >= 2 * rest_) return void(done_ = true);
      if (idle_) return receive(rank_ + 1, data_, last_[0]);
      return send(rank_ - 1, 0, last_[0]);
    }
    int const level = round_ < levels_ ? round_ : 2 * levels_ - 1 - round_;
    int const partner = number_ ^ (1 << level);
    int const peer = partner < rest_ ? 2 * partner + 1 : partner + rest_;
    bool const upper = (number_ >> level & 1) != 0;
    long const low = first_[level], high = last_[level], middle = low + (high - low) / 2;
    long const own = upper ? middle : low, own_end = upper ? high : middle;
    long const other = upper ? low : middle, other_end = upper ? middle : high;
    if (round_ < levels_) {
      first_[level + 1] = own;
      last_[level + 1] = own_end;
      receive(peer, room_, own_end - own);
      send(peer, other, other_end - other);
    } else {
      receive(peer, data_ + other, other_end - other);
      send(peer, own, own_end - own);
    }
  }

  void end_round() {
    if (round_ < levels_ && !(idle_ && round_ == -1)) {
      long const low = first_[round_ + 1], count = last_[round_ + 1] - low;
      T* KOKKOS_RESTRICT const sum = data_ + low;
      T const* KOKKOS_RESTRICT const other = room_;
      for (long i = 0; i < count; ++i) sum[i] += other[i];
    }
    if (round_ == 2 * levels_) return void(done_ = true);
    round_ = idle_ ? 2 * levels_ : round_ + 1;
    begin_round();
  }

  void send(int peer, long first, long count) {
    check(MPI_Isend(data_ + first, int(count), type(), peer, tag_, communicator_, &requests_[1]),
          "MPI_Isend");
  }
  void receive(int peer, T* target, long count) {
    check(MPI_Irecv(target, int(count), type(), peer, tag_, communicator_, &requests_[0]),
          "MPI_Irecv");
  }
  void check(int code, char const* operation) const { watch_->check(code, operation); }
  static MPI_Datatype type() { return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE; }

  MPI_Comm communicator_;
  MpiWatch* watch_;
  int rank_, tag_;
  T* data_;
  T* room_ = nullptr;
  int rest_ = 0;    // ranks beyond a power of two
  int levels_ = 0;  // log2 of that power
  int number_ = 0;  // of this rank among those that halve
  bool idle_ = false, done_ = false;
  int round_ = 0;
  long first_[32] = {}, last_[32] = {};  // what this rank still adds up, by level
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace phyllo::inline PHYLLO_ISA

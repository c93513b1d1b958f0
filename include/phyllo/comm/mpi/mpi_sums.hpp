// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/keep_for_ever.hpp>
#include <phyllo/comm/mpi/mpi_halving_sum.hpp>
#include <phyllo/comm/mpi/mpi_watch.hpp>

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Sums by messages of our own, one after the other, with the memory that they need, which is kept.
///
/// state    all sums begun until `clear`; the first has tag `first_tag`, each later one the next.
///          Those beyond `most_room` bytes wait for others to end: what arrives is then added
///          while it is in the second-level cache, and the memory is used again.
/// errors   the tags end with `most` sums: who begins one asks `is_full` first
/// numerics those of MpiHalvingSum: one tree over the ranks, whatever the pieces
/// cost     messages move in `advance` only. A sum that is given up keeps the memory that a message
///          may still reach, for ever.
class MpiSums {
 public:
  // Begun: MPI has at least 32767 tags, of two runs of sums and of the roll call.
  static constexpr std::size_t most = 16000;
  static constexpr std::size_t most_room = 1u << 20;  // bytes, unless one sum needs more

  static constexpr std::size_t piece = 2u << 20;  // bytes, about

  /// How many of `left` numbers one sum shall have, so that all have nearly as many.
  ///
  /// source   perf/communication: a bucket of 16 MiB in one sum takes up to 1.4 times as long
  template <class T> static constexpr long piece_of(long left) {
    long const bytes = left * long(sizeof(T)), pieces = (bytes + long(piece) / 2) / long(piece);
    return pieces < 2 ? left : (left + pieces - 1) / pieces;
  }

  explicit MpiSums(int first_tag) : first_tag_(first_tag) { all().push_back(this); }
  MpiSums(MpiSums const&) = delete;
  ~MpiSums() {
    std::erase(all(), this);
    if (empty() || !mpi_runs()) return;
    bool free = true;
    for (std::size_t k = 0; k < count_; ++k)
      free &= std::visit([](auto& s) { return s.give_up(); }, sums_[k].sum);
    // A message that is arriving goes on to be written: that memory is never given back.
    if (!free) keep_for_ever(std::make_unique<std::deque<Room>>(std::move(rooms_)));
  }

  template <class T>
  void begin(MPI_Comm communicator, int rank, int size, MpiWatch& watch, T* data, long count) {
    watch.start();
    Sum const sum{
        MpiHalvingSum<T>(communicator, rank, size, first_tag_ + int(count_), data, count, watch),
        std::size_t(MpiHalvingSum<T>::room_size(count, size)) * sizeof(T)};
    if (count_ == sums_.size())
      sums_.push_back(sum);
    else
      sums_[count_] = sum;
    ++count_;
    start();
  }

  /// Moves the sums of all communicators on: ranks may wait for them in different orders.
  static void advance_all() {
    for (MpiSums* const sums : all()) sums->advance();
  }
  /// Moves all on as far as that needs no waiting; whether all are done.
  bool advance() {
    for (std::size_t k = first_; k < started_; ++k) {
      Sum& sum = sums_[k];
      if (sum.done || !std::visit([](auto& s) { return s.advance(); }, sum.sum)) continue;
      sum.done = true;
      rooms_[sum.room].is_free = true;
      in_use_ -= sum.bytes;
      start();
    }
    while (first_ < started_ && sums_[first_].done) ++first_;
    return first_ == count_;
  }
  /// After `advance` has said true.
  void clear() { first_ = started_ = count_ = 0; }
  bool empty() const { return count_ == 0; }
  /// No tag is left for another one.
  bool is_full() const { return count_ == most; }

 private:
  struct Sum {
    std::variant<MpiHalvingSum<float>, MpiHalvingSum<double>> sum;
    std::size_t bytes;  // of room
    std::size_t room = 0;
    bool done = false;
  };
  struct Room {
    std::vector<double> memory;
    bool is_free = true;
  };

  static std::vector<MpiSums*>& all() {
    static std::vector<MpiSums*> sums;
    return sums;
  }

  // As many as there is room for, in order.
  void start() {
    for (; started_ < count_; ++started_) {
      Sum& sum = sums_[started_];
      if (in_use_ > 0 && in_use_ + sum.bytes > most_room) return;
      in_use_ += sum.bytes;
      sum.room = room_of(sum.bytes);
      double* const room = rooms_[sum.room].memory.data();
      std::visit([room](auto& s) { s.start(room); }, sum.sum);
    }
  }

  // The first free room, of at least so many bytes from now on.
  std::size_t room_of(std::size_t bytes) {
    std::size_t at = 0;
    while (at < rooms_.size() && !rooms_[at].is_free) ++at;
    if (at == rooms_.size()) rooms_.emplace_back();
    Room& room = rooms_[at];
    room.is_free = false;
    // Whole doubles: aligned for both types.
    if (room.memory.size() * sizeof(double) < bytes) room.memory.resize(bytes / sizeof(double) + 1);
    return at;
  }

  int first_tag_;
  std::deque<Sum> sums_;                 // kept for later ones: a step allocates nothing
  std::size_t count_ = 0;                // of those begun
  std::size_t first_ = 0, started_ = 0;  // those between are under way, or done
  std::size_t in_use_ = 0;               // bytes of rooms
  std::deque<Room> rooms_;
};

}  // namespace phyllo::inline PHYLLO_ISA

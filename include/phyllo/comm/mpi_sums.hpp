// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi_halving_sum.hpp>
#include <phyllo/comm/mpi_watch.hpp>

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

namespace phyllo {

/// Sums under way by messages of our own, with the memory that they need, which is kept.
///
/// state    all sums begun until `clear`; the first has tag `first_tag`, each later one the next
class MpiSums {
 public:
  static constexpr std::size_t most = 16384;  // under way; MPI has at least 32767 tags

  explicit MpiSums(int first_tag) : first_tag_(first_tag) { all().push_back(this); }
  MpiSums(MpiSums const&) = delete;
  ~MpiSums() {
    std::erase(all(), this);
    if (sums_.empty() || !mpi_runs()) return;
    bool free = true;
    for (auto& sum : sums_) free &= std::visit([](auto& s) { return s.give_up(); }, sum);
    // A message that is arriving goes on to be written: that memory is never given back.
    if (!free) static_cast<void>(new auto(std::move(rooms_)));
  }

  template <class T>
  void begin(MPI_Comm communicator, int rank, int size, MpiWatch& watch, T* data, long count) {
    if (sums_.size() == rooms_.size()) rooms_.emplace_back();
    auto& room = rooms_[sums_.size()];
    std::size_t const bytes = std::size_t(MpiHalvingSum<T>::room_size(count, size)) * sizeof(T);
    // Whole cache lines of doubles: aligned for both types.
    if (room.size() * sizeof(double) < bytes) room.resize(bytes / sizeof(double) + 1);
    watch.start();
    sums_.emplace_back(std::in_place_type<MpiHalvingSum<T>>, communicator, rank, size,
                       first_tag_ + int(sums_.size()), data, count,
                       reinterpret_cast<T*>(room.data()), &watch);
  }

  /// Moves the sums of all communicators on: ranks may wait for them in different orders.
  static void advance_all() {
    for (MpiSums* const sums : all()) sums->advance();
  }
  /// Moves all on as far as that needs no waiting; whether all are done.
  bool advance() {
    bool done = true;
    for (auto& sum : sums_) done &= std::visit([](auto& s) { return s.advance(); }, sum);
    return done;
  }
  /// After `advance` has said true.
  void clear() { sums_.clear(); }
  bool empty() const { return sums_.empty(); }
  /// No tag is left for another one.
  bool is_full() const { return sums_.size() == most; }

 private:
  static std::vector<MpiSums*>& all() {
    static std::vector<MpiSums*> sums;
    return sums;
  }

  int first_tag_;
  std::deque<std::variant<MpiHalvingSum<float>, MpiHalvingSum<double>>> sums_;
  std::deque<std::vector<double>> rooms_;
};

}  // namespace phyllo

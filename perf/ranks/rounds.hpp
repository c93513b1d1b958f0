// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <string>
#include <vector>

namespace perf {

/// What one rank does in one round of a collective: at most one message each way.
struct Round {
  int to = -1, from = -1;         // ranks of the collective; -1: nobody
  double sent = 0, received = 0;  // bytes
  double reduced = 0;             // bytes added to what the rank has
};

/// The rounds of one rank of a collective over `ranks` ranks on `bytes`.
///
/// Rabenseifner (Thakur, Rabenseifner and Gropp, IJHPCA 2005): recursive halving with the nearest
/// rank first, then recursive doubling; where the ranks are no power of two, those beyond it add
/// their data to a neighbour's before and receive the result after. `halves` are its two parts.
/// Binomial: a tree to rank 0 and back with all bytes in every message, which is how Open MPI's
/// MPI_Iallreduce works in place.
class Rounds {
 public:
  enum class Halves { both, reduce_scatter, all_gather };

  static std::vector<Round> rabenseifner(int rank, int ranks, double bytes,
                                         Halves halves = Halves::both) {
    std::vector<Round> rounds;
    int const power = int(std::bit_floor(unsigned(ranks))), rest = ranks - power;
    bool const folded = rest > 0 && rank < 2 * rest;  // ranks in pairs, of which the odd one works
    auto const real = [&](int number) { return number < rest ? 2 * number + 1 : number + rest; };
    bool const idle = folded && rank % 2 == 0;
    int const number = folded ? rank / 2 : rank - rest;
    if (halves != Halves::all_gather) {
      if (rest > 0)
        rounds.push_back(!folded ? Round{}
                         : idle  ? Round{rank + 1, -1, bytes, 0, 0}
                                 : Round{-1, rank - 1, 0, bytes, bytes});
      double part = bytes / 2;
      for (int distance = 1; distance < power; distance *= 2, part /= 2) {
        int const partner = idle ? -1 : real(number ^ distance);
        rounds.push_back(idle ? Round{} : Round{partner, partner, part, part, part});
      }
    }
    if (halves != Halves::reduce_scatter) {
      double part = bytes / power;
      for (int distance = power / 2; distance >= 1; distance /= 2, part *= 2) {
        int const partner = idle ? -1 : real(number ^ distance);
        rounds.push_back(idle ? Round{} : Round{partner, partner, part, part, 0});
      }
      if (rest > 0)
        rounds.push_back(!folded ? Round{}
                         : idle  ? Round{-1, rank + 1, 0, bytes, 0}
                                 : Round{rank - 1, -1, bytes, 0, 0});
    }
    return rounds;
  }

  static std::vector<Round> binomial(int rank, int ranks, double bytes) {
    std::vector<Round> rounds;
    for (int distance = 1; distance < ranks; distance *= 2) {
      if (rank % (2 * distance) == 0)
        rounds.push_back(rank + distance < ranks ? Round{-1, rank + distance, 0, bytes, bytes}
                                                 : Round{});
      else
        rounds.push_back(rank % distance == 0 ? Round{rank - distance, -1, bytes, 0, 0} : Round{});
    }
    for (int distance = 1; distance < ranks; distance *= 2) {
      if (rank < distance)
        rounds.push_back(rank + distance < ranks ? Round{rank + distance, -1, bytes, 0, 0}
                                                 : Round{});
      else
        rounds.push_back(rank < 2 * distance ? Round{-1, rank - distance, 0, bytes, 0} : Round{});
    }
    return rounds;
  }
};

}  // namespace perf

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// A message between ranks when one of them has waited too long (see MpiRollCall), sent as its
/// bytes.
struct MpiNotice {
  enum class Kind : int {
    waits,      // "I wait, and have begun so many collective calls"
    leaves,     // "an exception ends my part"
    who_waits,  // a keeper to all: "say so if you wait"
    absent      // a keeper to all: who does not wait
  };
  enum class Absence : int { silent, left, behind, dead };

  Kind kind = Kind::waits;
  long calls = 0;  // collective calls that the sender has begun
  // Of Kind::absent: how many ranks, and the first of them.
  Absence absence = Absence::silent;
  int count = 0;
  std::array<int, 8> ranks = {};

  void add(int rank) {
    if (count < int(ranks.size())) ranks[std::size_t(count)] = rank;
    ++count;
  }
  std::vector<int> known_ranks() const {
    return {ranks.begin(), ranks.begin() + (count < int(ranks.size()) ? count : int(ranks.size()))};
  }
  /// "rank 2, which has stalled or stopped": for the sentence of an Error.
  std::string text() const {
    if (count == 0)
      return absence == Absence::dead ? "one dead that is not known here"
                                      : "messages, while no rank is missing";
    std::string list;
    for (int const rank : known_ranks()) list += (list.empty() ? "" : ", ") + std::to_string(rank);
    if (count > int(ranks.size()))
      list += " and " + std::to_string(count - int(ranks.size())) + " more";
    bool const one = count == 1;
    std::string const who = (one ? "rank " : "ranks ") + list;
    if (absence == Absence::dead) return who + " dead";
    if (absence == Absence::left) return who + ", which left by an exception";
    if (absence == Absence::behind)
      return who + ", which " + (one ? "waits" : "wait") + " in an earlier call";
    return who + ", which " + (one ? "has" : "have") + " stalled or stopped";
  }
};
static_assert(std::is_trivially_copyable_v<MpiNotice>);

}  // namespace phyllo::inline PHYLLO_ISA

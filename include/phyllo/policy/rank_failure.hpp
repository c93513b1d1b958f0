// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace phyllo {

/// Other ranks are late beyond the time-out, have left by an exception, or are dead. What was being
/// summed is lost, and the transport that says so cannot be used any more.
///
/// state    the numbers of those ranks in the transport's communicator, as far as they are known;
///          of late ones eight at most, and the sentence says how many there are
/// errors   it is one: an Error whose sentence names step and phase, where a Trainer made the call
// Outside the namespace of the instruction set, as Error is.
class RankFailure : public Error {
 public:
  RankFailure(std::string const& sentence, std::vector<int> ranks)
      : Error(sentence), ranks_(std::move(ranks)) {}

  /// Those ranks of the transport, as far as they are known.
  std::vector<int> const& ranks() const { return ranks_; }

 private:
  std::vector<int> ranks_;
};

}  // namespace phyllo

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>

#include <string>
#include <utility>
#include <vector>

namespace phyllo {

/// Other ranks are late beyond the time-out, have left by an exception, or are dead. The sum that
/// was under way is lost, and the transport cannot be used any more.
///
/// state    the numbers of those ranks in the transport's communicator, as far as they are known;
///          at most eight late ones, and the sentence contains their number
/// errors   an Error whose sentence names step and phase, if a Trainer made the call
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

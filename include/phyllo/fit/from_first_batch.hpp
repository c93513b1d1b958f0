// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/data/batches.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// Moves batches to the first one of epoch 0, and at the end of its scope back to where they were,
// also when an exception passes: batches that a training uses may be evaluated in between.
template <class B> class FromFirstBatch {
 public:
  explicit FromFirstBatch(B& batches) : batches_(batches), before_(batches.position()) {
    batches.seek({0, 0});
  }
  ~FromFirstBatch() { batches_.seek(before_); }
  FromFirstBatch(FromFirstBatch const&) = delete;
  FromFirstBatch& operator=(FromFirstBatch const&) = delete;

 private:
  B& batches_;
  Position before_;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

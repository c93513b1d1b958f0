// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_source.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The taps of some neighbouring results in rows of the source that were copied, and their weights.
template <class A> struct RowTaps {
  /// A row of taps: numbers that the first tap of the first neighbour reads, and its weights.
  struct Row {
    A const* numbers;
    A const* weights;
    int number;  // of the row of taps in the window
  };
  Row const* row = nullptr;
  int rows = 0;
  int taps = 0;                  // of a row
  long tap = 0;                  // numbers from tap to tap
  long weight = 0;               // weights from tap to tap
  int apart = 1;                 // taps from neighbour to neighbour
  int members = 1, results = 1;  // channels of a group, of the source and of the result
  int window = 1;                // taps of a window
};

}  // namespace phyllo::inline PHYLLO_ISA::host

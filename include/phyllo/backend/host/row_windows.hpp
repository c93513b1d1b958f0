// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_source.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A row of windows, copied, and the rows of the image that they read.
template <class A> struct RowWindows {
  /// What the first tap of the first window reads under a row of taps.
  struct Row {
    A const* numbers;
    int number;  // of the row of taps in the window
  };
  Row const* row = nullptr;
  int rows = 0;
  int taps = 0;   // of a row
  long tap = 0;   // numbers from tap to tap
  long step = 0;  // from window to window
  A const* grid = nullptr;
  long grid_pitch = 0;  // numbers from window to window
  int windows = 0;
  int members = 1, results = 1;  // channels of a group, of the image and of the grid
  int window = 1;                // taps of a window
};

}  // namespace phyllo::inline PHYLLO_ISA::host

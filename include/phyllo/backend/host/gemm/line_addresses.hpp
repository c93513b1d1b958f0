// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::host {

/// Where the lines of a block of a product's left operand begin, rows or depths: an address for
/// each line and run. A run: numbers that are side by side in every line. Columns may be packed
/// instead. One type for all operands, so that what multiplies is compiled once.
///
/// options  Panels: VectorPanels
template <class A, bool ByRows, class Panels> class LineAddresses {
 public:
  static constexpr int rows = Panels::rows;
  // Shorter runs cost more addresses than copies of numbers.
  static constexpr int shortest_run = 32;
  static constexpr int most_lines = ByRows ? Panels::block_rows : Panels::strip;
  static constexpr int longest_line = ByRows ? Panels::strip : Panels::block_rows;
  static constexpr int most_runs = longest_line / shortest_run + 2;
  // A gap between lines lets them fall into different sets of the cache; copies write whole
  // vectors.
  static constexpr int line_stride = longest_line + 64 / int(sizeof(A));
  static constexpr std::size_t table_bytes = sizeof(A const*) * most_runs * most_lines;
  static constexpr std::size_t bytes =
      (table_bytes + sizeof(A) * most_lines * line_stride + 63) / 64 * 64;

  int runs() const { return runs_; }
  /// The first number of a run, in each of its lines.
  int begin(int run) const { return begin_[run]; }
  /// Where the run begins, for each line.
  A const* const* at(int run) const { return at_ + run * most_lines; }
  /// The run of a panel of columns, and where that begins in each of its lines.
  int run_of(int panel) const {
    int run = 0;
    while (run + 1 < runs_ && begin_[run + 1] <= panel * rows) ++run;
    return run;
  }
  long first_of(int panel, int run) const { return panel * rows - begin_[run]; }
  /// A panel of columns that is packed: `rows` numbers of each line, line behind line; nullptr: it
  /// is read where it is.
  A const* packed(int panel) const {
    return is_packed_ ? copies_ + long(panel) * rows * most_lines : nullptr;
  }

 protected:
  explicit LineAddresses(std::byte* room)
      : at_(reinterpret_cast<A const**>(room)), copies_(reinterpret_cast<A*>(room + table_bytes)) {}

  A const** at_;  // (runs, lines)
  A* copies_;
  int runs_ = 0;
  int begin_[most_runs + 1];
  bool is_packed_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

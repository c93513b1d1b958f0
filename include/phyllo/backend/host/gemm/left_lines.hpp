// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/register_block.hpp>

#include <cstddef>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// A block of a product's left operand where it stands in memory: for each of its lines, rows or
/// depths, where the numbers begin. A line of a window consists of runs, one for each row of taps.
/// Copied are runs beyond a border, numbers of another type, and columns whose lines are far apart.
///
/// options  Operand · Panels: VectorPanels
/// cost     an address for each line and run, where packing moves all numbers
/// source   Dukhan, "The Indirect Convolution Algorithm", arXiv:1907.02129, 2019
template <class A, class Operand, class Panels> class LeftLines {
  using S = typename Operand::value;
  static constexpr bool by_rows = Operand::by_rows;
  static constexpr int rows = Panels::rows;
  // Shorter runs cost more addresses than copies of numbers.
  static constexpr int shortest_run = 32;
  // Of columns, in bytes from line to line. A panel reads a few numbers of each line: of lines that
  // are farther apart, the first-level cache does not keep the others for the next panels; nor of
  // any where panels are narrow, and read once for each half as many columns.
  static constexpr long farthest_line = Panels::many_registers ? 512 : 0;
  static constexpr int most_lines = by_rows ? Panels::block_rows : Panels::strip;
  static constexpr int longest_line = by_rows ? Panels::strip : Panels::block_rows;
  static constexpr int most_runs = longest_line / shortest_run + 2;
  // A gap between lines lets them fall into different sets of the cache; copies write whole
  // vectors.
  static constexpr int line_stride = longest_line + 64 / int(sizeof(A));
  static constexpr std::size_t table_bytes = sizeof(A const*) * most_runs * most_lines;

 public:
  static constexpr std::size_t bytes =
      (table_bytes + sizeof(A) * most_lines * line_stride + 63) / 64 * 64;

  /// What a block of sums is multiplied from: panel number `number`.
  struct Panel {
    LeftLines const* lines;
    int number;
  };

  /// Rows [r0, r1), depths [k, k + deep) of a product of `depth` depths.
  LeftLines(Operand const& from, long r0, long r1, long k, int deep, long depth, std::byte* room)
      : at_(reinterpret_cast<A const**>(room)),
        copies_(reinterpret_cast<A*>(room + table_bytes)),
        count_(by_rows ? int(r1 - r0) : deep),
        length_(by_rows ? deep : int(r1 - r0)) {
    long const line = by_rows ? r0 : k, number = by_rows ? k : r0, run = from.run_length();
    if (count_ == 0) {
      // There is no line to begin with.
    } else if (by_rows) {
      add_runs(from, line, number, run < shortest_run ? LONG_MAX : run, count_);
    } else if (!std::is_same_v<S, A> || from.line_distance() * long(sizeof(S)) > farthest_line) {
      pack_panels(from, line, number);
    } else {
      // Of the last lines in memory, the last panel would read beyond the end.
      long const safe = length_ % rows == 0 ? depth : depth - rows > k ? depth - rows : k;
      add_runs(from, line, number, run < shortest_run || run % rows != 0 ? LONG_MAX : run,
               safe - k < count_ ? int(safe - k) : count_);
    }
    begin_[runs_] = length_;
  }
  LeftLines(LeftLines const&) = delete;
  LeftLines& operator=(LeftLines const&) = delete;

  Panel panel(int number, int) const { return {this, number}; }

  int runs() const { return runs_; }
  /// The first number of a run, in each of its lines.
  int begin(int run) const { return begin_[run]; }
  /// Where the run stands in each line.
  A const* const* at(int run) const { return at_ + run * most_lines; }
  /// The run of a panel of columns, and where that begins in each of its lines.
  int run_of(int panel) const {
    int run = 0;
    while (run + 1 < runs_ && begin_[run + 1] <= panel * rows) ++run;
    return run;
  }
  long first_of(int panel, int run) const { return panel * rows - begin_[run]; }
  /// A panel of columns that is packed: `rows` numbers of each line, line behind line; nullptr: it
  /// stands where it is.
  A const* packed(int panel) const {
    return is_packed_ ? copies_ + long(panel) * rows * most_lines : nullptr;
  }

 private:
  // Lines in runs of so many numbers. Those from number `safe` on are copied.
  void add_runs(Operand const& from, long line, long number, long run, int safe) {
    for (int begin = 0; begin < length_;) {
      long const left = run - (number + begin) % run;
      int const some = left < length_ - begin ? int(left) : length_ - begin;
      typename Operand::Lines lines(from, line, number + begin, some);
      A const** const at = at_ + runs_ * most_lines;
      for (int i = 0; i < count_; ++i) {
        A* const copy = copies_ + i * line_stride + begin;
        if constexpr (std::is_same_v<S, A>) {
          if (i < safe) {
            at[i] = lines.next(copy);
            continue;
          }
        }
        lines.copy_next(copy);
        at[i] = copy;
      }
      // Rows that a panel has beyond the last one are computed like its first, and given up.
      if constexpr (by_rows)
        for (int i = count_; i % rows != 0; ++i) at[i] = at[i / rows * rows];
      begin_[runs_++] = begin;
      begin += some;
    }
  }

  // Panel behind panel, a panel's numbers of one line behind those of the line before.
  void pack_panels(Operand const& from, long line, long number) {
    // Some panels at a time, so that a line of memory is not fetched again for each of them.
    constexpr int at_a_time = 8, v = vectors_of<A>(rows);
    constexpr long panel_size = long(rows) * most_lines;
    A* to = copies_;
    for (int p = 0; p < length_; p += at_a_time * rows, to += at_a_time * panel_size) {
      int const some = length_ - p < at_a_time * rows ? length_ - p : at_a_time * rows;
      typename Operand::Lines lines(from, line, number + p, some);
      S room[at_a_time * rows + InstructionSet::bytes / int(sizeof(S))];
      for (int i = 0; i < count_; ++i) {
        S const* const line_at = lines.next(room);
        for (int q = 0; q < some / rows; ++q) {
          RegisterBlock<A, 1, v, rows - (v - 1) * lanes<A>> one;
          one.begin(line_at + q * rows);
          one.store_rows(to + q * panel_size + i * rows, 0);
        }
        for (int r = some / rows * rows; r % rows != 0 || r < some; ++r)
          to[r / rows * panel_size + i * rows + r % rows] = r < some ? A(line_at[r]) : A(0);
      }
    }
    is_packed_ = true;
  }

  A const** at_;  // (runs, lines)
  A* copies_;
  int count_;   // of lines
  int length_;  // of each
  int runs_ = 0;
  int begin_[most_runs + 1];
  bool is_packed_ = false;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

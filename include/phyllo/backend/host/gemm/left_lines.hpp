// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/line_addresses.hpp>
#include <phyllo/backend/host/simd/register_block.hpp>

#include <cstddef>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// A block of a product's left operand in memory, for each of its lines, rows or depths. A line of
/// a window consists of runs, one for each row of taps. Copied are runs beyond a border, numbers of
/// another type, and columns whose lines are far apart.
///
/// options  Operand · Panels: VectorPanels
/// cost     an address for each line and run, where packing moves all numbers
/// source   Dukhan, "The Indirect Convolution Algorithm", arXiv:1907.02129, 2019
template <class A, class Operand, class Panels>
class LeftLines : public LineAddresses<A, Operand::by_rows, Panels> {
  using S = typename Operand::value;
  using Addresses = LineAddresses<A, Operand::by_rows, Panels>;
  using Addresses::at_, Addresses::copies_, Addresses::runs_, Addresses::begin_;
  using Addresses::most_lines, Addresses::rows, Addresses::shortest_run, Addresses::line_stride;
  static constexpr bool by_rows = Operand::by_rows;
  // Of columns, in bytes from line to line. A panel reads a few numbers of each line: of lines that
  // are farther apart, the first-level cache does not keep the others for the next panels; nor of
  // any where panels are narrow, and read once for each half as many columns.
  static constexpr long farthest_line = Panels::many_registers ? 512 : 0;

 public:
  /// What a block of sums is multiplied from: panel number `number`.
  struct Panel {
    Addresses const* lines;
    int number;
  };

  /// Rows [r0, r1), depths [k, k + deep) of a product of `depth` depths.
  LeftLines(Operand const& from, long r0, long r1, long k, int deep, long depth, std::byte* room)
      : Addresses(room),
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
    this->is_packed_ = true;
  }

  int count_;   // of lines
  int length_;  // of each
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Numbers side by side that are computed at a time: lanes of a few vectors.
inline constexpr int group_lanes = 64;
/// More numbers than are worth a thread.
inline constexpr int group_many = 1 << 16;

/// Positions of few channels that are taken together: whole vectors where that many fit.
inline int positions_together(int channels) {
  int const most = group_lanes / channels;
  if (most < 2) return 1;
  for (int n = most; n > 0; --n)
    if (n * channels % 16 == 0) return n;
  return most;
}

/// How the channels of a sample are cut: units of whole groups, as many as the lanes hold and one
/// at least; in each, blocks of at most so many channels. Positions of few channels are taken
/// several together, which fills the lanes.
struct GroupUnits {
  int channels, positions, groups, width;  // width: channels of a group
  int unit_groups, units, together;

  template <class Work>
  explicit GroupUnits(Work const& work)
      : channels(work.channels),
        positions(work.positions),
        groups(work.groups),
        width(work.channels / work.groups),
        unit_groups(width < group_lanes ? group_lanes / width : 1),
        units((groups + unit_groups - 1) / unit_groups),
        together(positions_together(work.channels)) {}

  int first_group(int unit) const { return unit * unit_groups; }
  int groups_of(int unit) const {
    int const left = groups - first_group(unit);
    return left < unit_groups ? left : unit_groups;
  }
  int first_channel(int unit) const { return first_group(unit) * width; }
  int channels_of(int unit) const { return groups_of(unit) * width; }
  int numbers_of(int unit) const { return positions * channels_of(unit); }
};

/// A block of `count` channels of a unit, from `first` on, of all positions; `lanes` of them are
/// computed at a time: those of several positions where they are taken together.
struct GroupBlock {
  GroupUnits const& units;
  int first, count, lanes;

  GroupBlock(GroupUnits const& of, int at, int most)
      : units(of),
        first(at),
        count(most < group_lanes ? most : group_lanes),
        lanes(count * of.together) {}

  /// run(rows, at, stride, numbers): as many numbers from `at` on, and those of rows behind, each
  /// `stride` apart, at positions [begin, end).
  template <class Run> PHYLLO_INLINE_ON_HOST void each(int begin, int end, Run const& run) const {
    int const whole = (end - begin) / units.together, rest = (end - begin) % units.together;
    long const stride = long(units.together) * units.channels;
    long const at = long(begin) * units.channels + first;
    if (whole > 0) run(whole, at, stride, lanes);
    if (rest > 0) run(1, at + whole * stride, stride, rest * count);
  }
  template <class A> void fold(A* sum) const {
    for (int at = count; at < lanes; at += count)
      for (int c = 0; c < count; ++c) sum[c] += sum[at + c];
  }
  template <class A> void spread(A* values) const {
    for (int at = count; at < lanes; at += count)
      for (int c = 0; c < count; ++c) values[at + c] = values[c];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::op {

/// The channels of one position of an output, as a loss reads them.
template <class Storage, class Accumulate> struct OutputRow {
  Storage const* row = nullptr;  // (C)
  PHYLLO_FUNCTION Accumulate operator()(int c) const { return Accumulate(row[c]); }
};

/// The target of one position: channel c, or the class index (c ignored: its extent is one).
template <class L, class Accumulate> struct TargetRow {
  ExternalTensor const& targets;
  int sample = 0;
  int position[3] = {0, 0, 0};  // depth, height, width

  PHYLLO_FUNCTION TargetRow(ExternalTensor const& t, int n, Shape const& s, int p)
      : targets(t),
        sample(n),
        position{p / s.spatial[2] / s.spatial[1], p / s.spatial[2] % s.spatial[1],
                 p % s.spatial[2]} {}
  PHYLLO_FUNCTION auto operator()(int c) const {
    if constexpr (L::classes)
      return targets.template read<long long>(sample, 0, position[0], position[1], position[2]);
    else
      return targets.template read<Accumulate>(sample, c, position[0], position[1], position[2]);
  }
  /// The address of channel 0 if all channels are contiguous, or nullptr.
  void const* side_by_side() const {
    if (targets.variables != 0 || targets.channel_stride != 1) return nullptr;
    return static_cast<char const*>(targets.data[0]) +
           targets.offset(sample, 0, position[0], position[1], position[2]) *
               (element_bits(targets.type) / 8);
  }
};

/// Stores the gradient of one row, times a factor; for a null row it stores nothing.
template <class Storage, class Accumulate> struct GradientRow {
  Storage* row = nullptr;  // (C)
  Accumulate factor = 1;
  bool accumulate = false;
  PHYLLO_FUNCTION bool wanted() const { return row != nullptr; }
  /// The address of the gradient if it is stored unrounded and not added to, or nullptr.
  PHYLLO_FUNCTION Accumulate* exact() const {
    if constexpr (std::is_same_v<Storage, Accumulate>)
      return accumulate ? nullptr : row;
    else
      return nullptr;
  }
  PHYLLO_FUNCTION void operator()(int c, Accumulate value) const {
    Accumulate const d = factor * value;
    row[c] = Storage(accumulate ? Accumulate(row[c]) + d : d);
  }
};

/// One if the first maximal channel is the class index, else zero.
template <class L, class Accumulate, class Outputs, class Target>
PHYLLO_FUNCTION Accumulate is_correct(int channels, Outputs const& z, Target const& target) {
  if constexpr (L::classes) {
    auto const label = target(0);
    if (label < 0 || label >= channels) return Accumulate(0);
    int const at = int(label);
    Accumulate const chosen = z(at);
    // The first channel stands where nothing compares, not-a-numbers among them.
    int beaten = 0;
    PHYLLO_SIMD(16)
    for (int c = 0; c < at; ++c) beaten |= int(!(z(c) < chosen));
    PHYLLO_SIMD(16)
    for (int c = at + 1; c < channels; ++c) beaten |= int(z(c) > chosen);
    return beaten != 0 ? Accumulate(0) : Accumulate(1);
  } else {
    return Accumulate(0);
  }
}

/// The same by a team; every thread has the result.
template <class L, class Accumulate, class Team, class Outputs, class Target>
PHYLLO_FUNCTION Accumulate is_correct_by_team(Team const& team, int channels, Outputs const& z,
                                              Target const& target) {
  if constexpr (L::classes) {
    auto const label = target(0);
    if (label < 0 || label >= channels) return Accumulate(0);
    int const at = int(label);
    Accumulate const chosen = z(at);
    int const beaten = team.template sum<int>(channels, [&](int c, int& sum) {
      sum += c < at ? int(!(z(c) < chosen)) : c > at ? int(z(c) > chosen) : 0;
    });
    return beaten != 0 ? Accumulate(0) : Accumulate(1);
  } else {
    return Accumulate(0);
  }
}

}  // namespace phyllo::inline PHYLLO_ISA::op

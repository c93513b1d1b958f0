// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

/// The recurrence of one layer in one direction: what its leaves share.
///
/// options  Block: the recurrent layer, with its cell, hidden size and options · Place: layer times
///          directions plus direction
template <class Block, int Place> struct Recurrence {
  using cell = typename Block::cell;
  static constexpr int hidden = Block::hidden;
  static constexpr int products = cell::gates * hidden;
  static constexpr bool has_bias = Block::options.bias;
  static constexpr int initial_states = Block::options.initial;
  static constexpr bool has_lengths = Block::options.lengths;
  // h is carried beside the outputs where these are zero beyond a length.
  static constexpr int carried_from = Block::options.final == 0 ? cell::states
                                      : has_lengths             ? 0
                                                                : 1;
  static constexpr int carried = cell::states - carried_from;
  static constexpr int directions = Block::options.bidirectional ? 2 : 1;
  static constexpr int places = Block::options.layers * directions;
  static constexpr int place = Place;
  static constexpr int depth = Place / directions;
  static constexpr bool reverse = Place % directions == 1;
};

/// A parameter's name in files, as torch makes it: "weight_ih_l0", "bias_hh_l1_reverse".
template <class R, bool IsBias, bool IsRecurrent> struct RecurrenceName {
  struct Text {
    char text[40] = {};
    int size = 0;
    constexpr void append(char const* from) {
      while (*from != 0) text[size++] = *from++;
    }
    constexpr void append(int number) {
      if (number >= 10) append(number / 10);
      text[size++] = char('0' + number % 10);
    }
  };
  static constexpr Text name = [] {
    Text t;
    t.append(IsBias ? "bias" : "weight");
    t.append(IsRecurrent ? "_hh_l" : "_ih_l");
    t.append(R::depth);
    if (R::reverse) t.append("_reverse");
    return t;
  }();
};
/// Name and beginning of its parameters: uniform within one over the root of the hidden size.
template <class R, bool IsRecurrent, class N> constexpr void name_parameters(N& n) {
  n.parameter[0].name = RecurrenceName<R, false, IsRecurrent>::name.text;
  n.parameter[0].file_rank = 2;
  n.parameter[1].name = RecurrenceName<R, true, IsRecurrent>::name.text;
  for (int k = 0; k < 2; ++k) {
    n.parameter[k].initial = decltype(n.parameter[k].initial)::uniform;
    n.parameter[k].fan_in = R::hidden;
  }
}

/// The input's part of the sums of all gates at all times.
///
/// shape    (N, C, T) or (N, C) -> (N, gates H, T) or (N, gates H)
/// errors   compile: more than one extent
/// source   none
template <class Block, int Place> struct ScanProjection {
  using R = Recurrence<Block, Place>;
  static constexpr char const* name = "projection";
  static constexpr Role role = Role::contraction;
  static constexpr Window window{};
  static constexpr bool has_bias = R::has_bias;

  static constexpr bool accepts(Shape s) { return s.rank <= 1; }
  static constexpr Shape expected(Shape s) { return Shape(s.channels, s.spatial[2]); }
  static constexpr Shape output(Shape s) { return s.with_channels(R::products); }
  template <class N> static constexpr void name_parameters(N& n) {
    detail::name_parameters<R, false>(n);
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(met<false, Where>,
                  "RNN, LSTM, GRU: expected a sequence, channels and one extent, the times; or one "
                  "time, channels alone. Reshape the input before it.");
  };
};

/// The recurrence itself.
///
/// shape    (N, gates H, T) -> (N, (1 + carried) H, T), or without T
/// errors   compile: states or lengths of another shape
/// source   op::Scan
template <class Block, int Place> struct ScanLayer : Recurrence<Block, Place> {
  using R = Recurrence<Block, Place>;
  static constexpr char const* name = Block::cell::name;
  static constexpr Role role = Role::scan;

  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s.with_channels((1 + R::carried) * R::hidden); }
  template <class N> static constexpr void name_parameters(N& n) {
    detail::name_parameters<R, true>(n);
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        met<false, Where>,
        "RNN, LSTM, GRU: each value of InitialState must have hidden x layers x directions "
        "channels and no extents, and SequenceLengths one integer for each sample. Change "
        "the inputs of these names.");
  };
};

/// Part number Part of what a scan writes: at all times, or at its last one alone.
///
/// shape    (N, (1 + carried) H, T) -> (N, H, T), or (N, H)
/// errors   none
/// source   none
template <class Block, int Place, int Part, bool IsLast> struct ScanPart {
  using R = Recurrence<Block, Place>;
  static constexpr char const* name = "state";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) {
    return IsLast ? Shape(R::hidden) : s.with_channels(R::hidden);
  }
  static constexpr MoveMap map(Shape s) {
    MoveMap m = MoveMap::of(s);
    MoveAxis channels = m.axis[3], time = m.axis[2];
    channels.begin = Part * R::hidden;
    channels.extent = R::hidden;
    time.begin = R::reverse ? 0 : time.extent - 1;
    time.extent = 1;
    m = m.with(3, channels);
    return IsLast ? m.with(2, time) : m;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

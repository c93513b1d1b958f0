// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/divisor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Where number `at` of values (N, S, C) is, without divisions among the first 2^31 of them.
struct ElementPlaces {
  Divisor channels, positions, plane, line;

  explicit ElementPlaces(Shape const& s)
      : channels(unsigned(s.channels)),
        positions(unsigned(s.positions())),
        plane(unsigned(s.spatial[1] * s.spatial[2])),
        line(unsigned(s.spatial[2])) {}

  struct Element {
    long sample;
    int position, channel;
    int at[3];  // the position's depth, height and width
  };
  PHYLLO_INLINE Element operator()(long at) const {
    Element e;
    if (at < (1L << 31)) {
      unsigned const row = channels.quotient(unsigned(at)), n = positions.quotient(row);
      e = {long(n), int(row - n * positions.by), int(unsigned(at) - row * channels.by), {}};
    } else {
      long const row = at / channels.by;
      e = {row / positions.by, int(row % positions.by), int(at % channels.by), {}};
    }
    unsigned const p = unsigned(e.position), d = plane.quotient(p), rest = p - d * plane.by,
                   h = line.quotient(rest);
    e.at[0] = int(d);
    e.at[1] = int(h);
    e.at[2] = int(rest - h * line.by);
    return e;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A table of vectors read by index: y[n, :, t] = weight[x[n, t], :].
///
/// shape    integers (N, T) -> (N, Channels, T), or (N, 1, S...) -> (N, Channels, S...): the
///          channels come first, as everywhere; torch's (N, T, Channels) is its transpose
/// state    weight (Entries, Channels), drawn from a normal distribution of deviation one
/// errors   compile: an input of numbers, integers with channels and extents, a table without
///          entries; run: an index outside of 0 .. Entries - 1 makes its outputs not a number, so
///          that the loss is none and the step is skipped
/// numerics the gradient of a row adds those of its places in the batch in rising order
/// cost     one read and one write of the outputs; backward reads them and writes the whole table
/// source   Bengio et al., "A Neural Probabilistic Language Model", JMLR 3, 2003
template <int Entries, int Channels> struct Embedding {
  static constexpr char const* name = "embedding";
  static constexpr Role role = Role::lookup;
  static constexpr int entries = Entries;
  static constexpr bool valid_options = Entries > 0 && Channels > 0;

  static constexpr bool accepts(Shape s) {
    return valid_options && (s.rank == 0 || s.channels == 1);
  }
  static constexpr Shape output(Shape s) {
    return s.rank == 0 ? Shape(Channels, s.channels) : s.with_channels(Channels);
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "Embedding<entries, channels>: both numbers must be positive.");
    static_assert(detail::met<!valid_options, Where>,
                  "Embedding: expected integers of one extent, or with one channel. Use "
                  "IntegerInput<positions> or IntegerInput<1, extents...>.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

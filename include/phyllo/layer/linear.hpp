// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Fully connected layer: y = W x + b.
///
/// shape    (N, C) -> (N, Out); with PerPosition (N, C, S...) -> (N, Out, S...)
/// options  Bias<true> · PerPosition: the channels of every position by themselves
/// state    weight (Out, C) · bias (Out)
/// errors   compile: an input with spatial extents (put Flatten before it, or PerPosition among the
///          options); a wrong option
/// numerics accumulates in Precision::accumulate, bias first
/// cost     2 N C Out flop, with PerPosition for each position
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §6.1
template <int Out, class... Options> struct Linear {
  static constexpr char const* name = "linear";
  static constexpr Role role = Role::contraction;
  static constexpr Window window{};
  static constexpr bool has_bias = detail::find_bias<Options...>();

  static constexpr bool per_position = (detail::is_per_position<Options> || ... || false);

  static constexpr bool valid_options =
      Out > 0 && ((detail::is_bias<Options> || detail::is_per_position<Options>) && ...) &&
      (int(detail::is_bias<Options>) + ... + 0) <= 1 &&
      (int(detail::is_per_position<Options>) + ... + 0) <= 1;

  static constexpr bool accepts(Shape s) { return valid_options && (per_position || s.rank == 0); }
  static constexpr Shape expected(Shape s) { return Shape{s.size()}; }
  static constexpr Shape output(Shape s) {
    return per_position ? s.with_channels(Out) : Shape{Out};
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<valid_options, Where>,
        "Linear: the number of outputs must be positive, and the options are Bias<...> and "
        "PerPosition, each once.");
    static_assert(detail::met<!valid_options, Where>,
                  "Linear: expected one extent (channels), got a shape with spatial extents. Put "
                  "Flatten before it, or use Linear<outputs, PerPosition>.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/attention_options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/op/position.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Adds a vector of parameters to each position: y[n, :, t] = x[n, :, t] + weight[t, :].
///
/// shape    (N, C, T) -> (N, C, T)
/// state    weight (T, C), as of torch's Embedding(T, C), drawn from a normal distribution of
///          deviation one
/// errors   compile: another rank than one
/// numerics the gradient of the weight adds the samples in rising order
/// cost     one read, one write
/// source   Gehring et al., "Convolutional Sequence to Sequence Learning", ICML 2017, section 3.1
struct LearnedPositions {
  static constexpr char const* name = "learned_positions";
  static constexpr Role role = Role::position;
  static constexpr op::PositionKind kind = op::PositionKind::learned;
  static constexpr bool accepts(Shape s) { return s.rank == 1; }
  static constexpr Shape expected(Shape s) { return Shape(s.channels, s.positions()); }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "LearnedPositions, SinusoidalPositions: expected channels and one extent, (N, C, "
                  "T). Put them behind an Embedding or a layer with positions.");
  };
};

/// Adds sines and cosines of the position: to channel 2 i sin(t / Base^(2 i / C)), to channel
/// 2 i + 1 the cosine of the same.
///
/// shape    (N, C, T) -> (N, C, T)
/// options  Base
/// errors   compile: another rank than one
/// numerics angles in the type of sums
/// cost     one read, one write, a sine a number
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.5
template <int Base = 10000> struct SinusoidalPositions {
  static constexpr char const* name = "sinusoidal_positions";
  static constexpr Role role = Role::position;
  static constexpr op::PositionKind kind = op::PositionKind::sinusoidal;
  static constexpr int base = Base;
  static constexpr bool accepts(Shape s) { return s.rank == 1 && Base > 1; }
  static constexpr Shape expected(Shape s) { return Shape(s.channels, s.positions()); }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected>
  struct Refused : LearnedPositions::Refused<Where, Given, Expected> {};
};

/// Rotates pairs of channels of queries and keys by angles of the position t: channels 2 i and
/// 2 i + 1 of each head, by t / Base^(2 i / d), where a head has d channels. A part of
/// MultiheadAttention.
///
/// shape    (N, Parts C, T) -> (N, Parts C, T); the last of the parts, the values, as they are
/// errors   none: MultiheadAttention refuses before it
/// numerics angles in the type of sums
/// cost     one read, one write, a sine and a cosine a pair
/// source   Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
///          arXiv:2104.09864, eq. 34
template <int Heads, int Parts, int Base> struct RotaryPositions {
  static constexpr char const* name = "rotary_positions";
  static constexpr Role role = Role::position;
  static constexpr op::PositionKind kind = op::PositionKind::rotary;
  static constexpr int base = Base;
  static constexpr int heads = Heads, parts = Parts;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }
};

}  // namespace phyllo::inline PHYLLO_ISA

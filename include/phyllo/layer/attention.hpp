// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/attention_options.hpp>
#include <phyllo/core/refusal.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The linear layer in front of an attention: `Parts` times the channels at every position. A part
/// of MultiheadAttention, whose sentences it contains.
///
/// shape    (N, C, T) -> (N, Parts C, T)
/// options  Channels: those that it expects, or 0 · First: the first of the 3 C outputs that files
///          name together · Options: detail::AttentionOptions
/// state    in_proj_weight (3 C, C), in_proj_bias (3 C): rows First C to (First + Parts) C of them
/// errors   compile: another rank than one; channels that the heads do not divide
/// numerics as Linear
/// cost     2 N T Parts C^2 flop
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017
template <int Channels, int Heads, int First, int Parts, class Options> struct InProjection {
  static constexpr char const* name = "in_projection";
  static constexpr Role role = Role::contraction;
  static constexpr Window window{};
  static constexpr bool has_bias = Options::has_bias;
  static constexpr bool per_position = true;
  static constexpr int first_part = First, file_parts = 3;
  static constexpr char const* weight_name = "in_proj_weight";
  static constexpr char const* bias_name = "in_proj_bias";
  // Channels are a multiple of it.
  static constexpr int heads = Heads > 0 ? Heads : 1;
  static constexpr int unit = (Options::base == 0 ? 1 : 2) * heads;
  static constexpr bool valid_options = Options::valid && Heads > 0 && Channels % heads == 0;

  static constexpr bool accepts(Shape s) {
    return valid_options && s.rank == 1 && s.channels % unit == 0 &&
           (Channels == 0 || s.channels == Channels);
  }
  static constexpr Shape expected(Shape s) {
    if (!valid_options) return s;
    return Shape(Channels > 0 ? Channels : (s.channels + unit - 1) / unit * unit, s.positions());
  }
  static constexpr Shape output(Shape s) { return s.with_channels(Parts * s.channels); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<valid_options, Where>,
        "MultiheadAttention, CrossAttention, Transformer layers: the number of heads must "
        "be positive and divide the channels, and the options are Causal, "
        "KeyPadding<tag>, Dropout<probability>, Rotary<base> and Bias<...>, each once; of "
        "Transformer layers also a pointwise layer, NormFirst and Epsilon<...>.");
    static_assert(detail::met<!valid_options, Where>,
                  "MultiheadAttention, CrossAttention, Transformer layers: expected channels and "
                  "one extent, (N, C, T), the channels that a Transformer layer states, and "
                  "channels that the heads divide, into an even number with Rotary. Change the "
                  "number of heads or the layer before.");
  };
};

/// The linear layer behind an attention.
///
/// shape    (N, C, T) -> (N, C, T)
/// state    weight (C, C), bias (C)
/// errors   none
/// numerics as Linear
/// source   as InProjection
template <bool HasBias> struct OutProjection {
  static constexpr char const* name = "out_projection";
  static constexpr Role role = Role::contraction;
  static constexpr Window window{};
  static constexpr bool has_bias = HasBias;
  static constexpr bool per_position = true;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }
};

/// Scores of queries and keys, s[n, k, h, q] = sum over i of Q[n, h d + i, q] K[n, h d + i, k] /
/// sqrt(d), where head h has d channels; -infinity where the query does not read the key. A part of
/// MultiheadAttention.
///
/// shape    Q (N, C, Tq), K (N, C, Tk) -> (N, Tk, heads, Tq); Q and K may be parts of the channels
///          of one value · mask: integers (N, Tk)
/// options  Query, Key: these parts · IsCausal · IsMasked: there is a mask
/// errors   compile: queries and keys of different channels; a mask that is not Tk integers
/// numerics sums in rising order of i, then the factor
/// cost     2 N C Tq Tk flop
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017, eq. 1
template <int Heads, ChannelPart Query, ChannelPart Key, bool IsCausal, bool IsMasked>
struct AttentionScores {
  static constexpr char const* name = "attention_scores";
  static constexpr Role role = Role::product;
  static constexpr AttentionPart part = AttentionPart::scores;
  static constexpr int heads = Heads;
  static constexpr ChannelPart query = Query, key = Key;
  static constexpr bool causal = IsCausal, masked = IsMasked;

  static constexpr bool accepts(Shape s) {
    return s.rank == 1 && Query.divides(s.channels) && Query.size(s.channels) % Heads == 0;
  }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<false, Where>,
        "CrossAttention, KeyPadding: expected a saved value with the channels of the "
        "queries and one extent, and a padding mask of one integer for each key, "
        "NamedIntegerInput<tag, keys>. Put Linear<channels, PerPosition> before the Save, "
        "or change the mask.");
  };
};

/// Sums of values with the weights of each query: y[n, h d + i, q] = sum over k of P[n, k, h, q]
/// V[n, h d + i, k]. A part of MultiheadAttention.
///
/// shape    P (N, Tk, heads, Tq), V (N, C, Tk) -> (N, C, Tq); V may be a part of the channels of a
///          value
/// options  Value: that part
/// errors   compile: values of other positions than the keys
/// numerics sums in rising order of k
/// cost     2 N C Tq Tk flop
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017, eq. 1
template <int Heads, ChannelPart Value> struct AttentionValues {
  static constexpr char const* name = "attention_values";
  static constexpr Role role = Role::product;
  static constexpr AttentionPart part = AttentionPart::values;
  static constexpr int heads = Heads;
  static constexpr ChannelPart value = Value;

  static constexpr bool accepts(Shape s) { return s.rank == 2; }
  static constexpr Shape output(Shape s) { return s; }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Query q of an attention reads the keys 0 .. q only.
struct Causal {};

/// Keys that an attention ignores: the NamedIntegerInput<Tag, keys> that is not zero there, as
/// torch's key_padding_mask.
template <class Tag> struct KeyPadding {
  using tag = Tag;
};

/// A Transformer block normalises in front of its parts instead of behind their sums.
struct NormFirst {};

/// Queries and keys of an attention are rotated by angles of their positions.
template <int Base = 10000> struct Rotary {
  static constexpr int base = Base;
};

template <double Probability> struct Dropout;

/// A part of the channels of a value: number `index` of `count` equal ones.
struct ChannelPart {
  int index = 0;
  int count = 1;

  constexpr bool divides(int channels) const { return channels % count == 0; }
  constexpr int size(int channels) const { return channels / count; }
  constexpr int first(int channels) const { return index * size(channels); }
};

namespace detail {

template <class Option> inline constexpr bool is_causal = false;
template <> inline constexpr bool is_causal<Causal> = true;
template <class Option> inline constexpr bool is_norm_first = false;
template <> inline constexpr bool is_norm_first<NormFirst> = true;
template <class Option> inline constexpr bool is_key_padding = false;
template <class Tag> inline constexpr bool is_key_padding<KeyPadding<Tag>> = true;
template <class Option> inline constexpr bool is_rotary = false;
template <int Base> inline constexpr bool is_rotary<Rotary<Base>> = Base > 1;
template <class Option> inline constexpr bool is_dropout = false;
template <double Probability> inline constexpr bool is_dropout<Dropout<Probability>> = true;

template <class Option>
inline constexpr bool is_attention_option =
    is_causal<Option> || is_key_padding<Option> || is_rotary<Option> || is_dropout<Option> ||
    is_bias<Option>;

template <class Option> inline constexpr double dropped_share = 0;
template <double Probability>
inline constexpr double dropped_share<Dropout<Probability>> = Probability;
template <class Option> inline constexpr int rotary_base = 0;
template <int Base> inline constexpr int rotary_base<Rotary<Base>> = Base;

// The tag of KeyPadding; void: there is none.
template <class... Options> struct PaddingTag {
  using type = void;
};
template <class First, class... Rest> struct PaddingTag<First, Rest...> : PaddingTag<Rest...> {};
template <class Tag, class... Rest> struct PaddingTag<KeyPadding<Tag>, Rest...> {
  using type = Tag;
};

constexpr int count_of(bool is) { return is ? 1 : 0; }

/// The options of an attention.
template <class... Options> struct AttentionOptions {
  using tag = typename PaddingTag<Options...>::type;
  static constexpr bool causal = (is_causal<Options> || ... || false);
  static constexpr bool masked = (is_key_padding<Options> || ... || false);
  static constexpr bool drops = (is_dropout<Options> || ... || false);
  static constexpr bool has_bias = find_bias<Options...>();
  static constexpr double dropout = (dropped_share<Options> + ... + 0.0);
  static constexpr int base = (rotary_base<Options> + ... + 0);  // 0: nothing is rotated
  static constexpr bool once = (count_of(is_causal<Options>) + ... + 0) <= 1 &&
                               (count_of(is_key_padding<Options>) + ... + 0) <= 1 &&
                               (count_of(is_rotary<Options>) + ... + 0) <= 1 &&
                               (count_of(is_dropout<Options>) + ... + 0) <= 1 &&
                               (count_of(is_bias<Options>) + ... + 0) <= 1;
  static constexpr bool valid = (is_attention_option<Options> && ... && true) && once;
};

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA

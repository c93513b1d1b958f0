// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/block/attention.hpp>
#include <phyllo/block/transformer.hpp>
#include <phyllo/kind/kinds.hpp>
#include <phyllo/layer/attention.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/layer_norm.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/positions.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/softmax.hpp>
#include <phyllo/network/lower.hpp>

#include <cstddef>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

/// Names of modules as types, because nvcc matches no template of a string.
namespace module {
struct self_attn {
  static constexpr char const* text = "self_attn";
};
struct multihead_attn {
  static constexpr char const* text = "multihead_attn";
};
struct linear1 {
  static constexpr char const* text = "linear1";
};
struct linear2 {
  static constexpr char const* text = "linear2";
};
struct activation {
  static constexpr char const* text = "activation";
};
struct dropout {
  static constexpr char const* text = "dropout";
};
struct dropout1 {
  static constexpr char const* text = "dropout1";
};
struct dropout2 {
  static constexpr char const* text = "dropout2";
};
struct dropout3 {
  static constexpr char const* text = "dropout3";
};
struct norm1 {
  static constexpr char const* text = "norm1";
};
struct norm2 {
  static constexpr char const* text = "norm2";
};
struct norm3 {
  static constexpr char const* text = "norm3";
};
}  // namespace module

/// A part whose leaves have a name in files instead of a number.
template <class Name, class Part> struct Module {};
/// The sum of its input and of what the parts make of it.
template <class... Parts> struct ResidualModules {};
struct NoPart {};
template <bool Present, class Part> using PartIf = std::conditional_t<Present, Part, NoPart>;

/// An attention with its projections. Tag: of the value that keys and values are made of; void: the
/// current one.
template <int Channels, int Heads, class Tag, class Options> struct Attention {};

/// Options of a Transformer's layer.
template <class Option>
inline constexpr bool is_activation =
    requires { requires facts_of(Option::role).is_chain; } && !is_dropout<Option>;
template <class Option>
inline constexpr bool is_transformer_option =
    is_attention_option<Option> || is_activation<Option> || is_norm_first<Option> ||
    is_epsilon<Option>;
template <class... Options> struct ActivationOption {
  using type = ReLU;
};
template <class First, class... Rest>
struct ActivationOption<First, Rest...> : ActivationOption<Rest...> {};
template <class First, class... Rest>
  requires is_activation<First>
struct ActivationOption<First, Rest...> {
  using type = First;
};
template <class... Options> struct TransformerOptions : AttentionOptions<Options...> {
  using activation = typename ActivationOption<Options...>::type;
  static constexpr bool norm_first = (is_norm_first<Options> || ... || false);
  static constexpr double epsilon = find_epsilon<Options...>();
  static constexpr bool valid =
      AttentionOptions<Options...>::once &&
      ((is_transformer_option<Options> && !is_bias<Options>) && ... && true) &&
      (count_of(is_activation<Options>) + ... + 0) <= 1 &&
      (count_of(is_epsilon<Options>) + ... + 0) <= 1;
};
/// Those of an attention to a saved value: the others are about the attention to itself.
template <class Options> struct MemoryOptions : Options {
  using tag = void;
  static constexpr bool causal = false, masked = false;
  static constexpr int base = 0;
};
template <class Options> struct WithoutRotation : Options {
  static constexpr bool valid = Options::valid && Options::base == 0;
};

}  // namespace detail

/// Parts with names, one after the other.
template <class... Parts> struct LowerModules {
  static constexpr bool numbered = true;
  using leaves = Join<typename Lower<Parts>::leaves...>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    ((current = Lower<Parts>::append_to(graph, current)), ...);
    return current;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    (Lower<Parts>::name_leaves(names, path), ...);
  }
};

template <class Name, class Part> struct Lower<detail::Module<Name, Part>> : Lower<Part> {
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    Lower<Part>::name_leaves(names, path.empty() ? Name::text : path + "." + Name::text);
  }
};
template <> struct Lower<detail::NoPart> : LowerEdge {
  template <class G> static constexpr int append_to(G&, int current) { return current; }
};
template <class... Parts> struct Lower<detail::ResidualModules<Parts...>> {
  using inner = LowerModules<Parts...>;
  using leaves = Join<typename inner::leaves, TypeList<Add>>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    return graph.append(current, inner::append_to(graph, current));
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    inner::name_leaves(names, path);
    names.push_back(path + ".add");
  }
};

template <int Channels, int Heads, class Tag, class O>
struct Lower<detail::Attention<Channels, Heads, Tag, O>> {
  static constexpr bool numbered = true;
  static constexpr bool crosses = !std::is_void_v<Tag>;
  static constexpr bool rotates = O::base > 0;
  static constexpr int heads = Heads > 0 ? Heads : 1;
  static constexpr ChannelPart query = crosses ? ChannelPart{0, 1} : ChannelPart{0, 3};
  static constexpr ChannelPart key = crosses ? ChannelPart{0, 2} : ChannelPart{1, 3};
  static constexpr ChannelPart value = crosses ? ChannelPart{1, 2} : ChannelPart{2, 3};

  template <bool Present, class Layer>
  using If = std::conditional_t<Present, TypeList<Layer>, TypeList<>>;
  using leaves = Join<TypeList<InProjection<Channels, Heads, 0, crosses ? 1 : 3, O>>,
                      If<crosses, InProjection<Channels, Heads, 1, 2, O>>,
                      If<rotates, RotaryPositions<heads, 3, O::base>>,
                      TypeList<AttentionScores<heads, query, key, O::causal, O::masked>, Softmax>,
                      If<O::drops, Dropout<O::dropout>>,
                      TypeList<AttentionValues<heads, value>, OutProjection<O::has_bias>>>;

  template <class G> static constexpr int append_to(G& graph, int current) {
    int const queries = graph.append(current);
    int keys = queries;
    if constexpr (crosses) keys = graph.append(graph.read(tag_id<Tag>));
    if constexpr (rotates) keys = graph.append(queries);
    int weights = graph.append(crosses ? queries : keys, keys);
    if constexpr (O::masked) graph.add_source(graph.read(tag_id<typename O::tag>));
    weights = graph.append(weights);
    if constexpr (O::drops) weights = graph.append(weights);
    return graph.append(graph.append(weights, keys));
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    names.push_back(path);
    if (crosses) names.push_back(path);
    if (rotates) names.push_back(path + ".rotary");
    names.push_back(path + ".scores");
    names.push_back(path + ".softmax");
    if (O::drops) names.push_back(path + ".dropout");
    names.push_back(path + ".values");
    names.push_back(path + ".out_proj");
  }
};
template <int Heads, class... Options>
struct Lower<MultiheadAttention<Heads, Options...>>
    : Lower<detail::Attention<0, Heads, void, detail::AttentionOptions<Options...>>> {};
template <int Heads, class Tag, class... Options>
struct Lower<CrossAttention<Heads, Tag, Options...>>
    : Lower<detail::Attention<0, Heads, Tag,
                              detail::WithoutRotation<detail::AttentionOptions<Options...>>>> {};

namespace detail {

/// The sublayers of a Transformer's layer, each x + part(norm(x)) or norm(x + part(x)).
template <class O, class Norm, class... Parts>
using Sublayer = std::conditional_t<
    O::norm_first,
    LowerModules<ResidualModules<Module<Norm, LayerNorm<Epsilon<O::epsilon>>>, Parts...>>,
    LowerModules<ResidualModules<Parts...>, Module<Norm, LayerNorm<Epsilon<O::epsilon>>>>>;

template <class O, class Name>
using DropoutIf = PartIf<O::drops, Module<Name, Dropout<O::dropout>>>;

template <int Channels, int Heads, class O>
using SelfSublayer =
    Sublayer<O, module::norm1, Module<module::self_attn, Attention<Channels, Heads, void, O>>,
             DropoutIf<O, module::dropout1>>;
template <int Channels, int Heads, class Memory, class O>
using CrossSublayer =
    Sublayer<O, module::norm2,
             Module<module::multihead_attn, Attention<Channels, Heads, Memory, MemoryOptions<O>>>,
             DropoutIf<O, module::dropout2>>;
template <int Channels, int FeedForward, class O, class Norm, class Last>
using ForwardSublayer =
    Sublayer<O, Norm, Module<module::linear1, Linear<FeedForward, PerPosition>>,
             Module<module::activation, typename O::activation>, DropoutIf<O, module::dropout>,
             Module<module::linear2, Linear<Channels, PerPosition>>, DropoutIf<O, Last>>;

/// Sequences that are lowered already, one after the other.
template <class... Lowered> struct LowerSublayers {
  static constexpr bool numbered = true;
  using leaves = Join<typename Lowered::leaves...>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    ((current = Lowered::append_to(graph, current)), ...);
    return current;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    (Lowered::name_leaves(names, path), ...);
  }
};

}  // namespace detail

template <int Channels, int Heads, int FeedForward, class... Options>
struct Lower<TransformerEncoderLayer<Channels, Heads, FeedForward, Options...>>
    : detail::LowerSublayers<
          detail::SelfSublayer<Channels, Heads, detail::TransformerOptions<Options...>>,
          detail::ForwardSublayer<Channels, FeedForward, detail::TransformerOptions<Options...>,
                                  detail::module::norm2, detail::module::dropout2>> {};
template <int Channels, int Heads, int FeedForward, class Memory, class... Options>
struct Lower<TransformerDecoderLayer<Channels, Heads, FeedForward, Memory, Options...>>
    : detail::LowerSublayers<
          detail::SelfSublayer<Channels, Heads, detail::TransformerOptions<Options...>>,
          detail::CrossSublayer<Channels, Heads, Memory, detail::TransformerOptions<Options...>>,
          detail::ForwardSublayer<Channels, FeedForward, detail::TransformerOptions<Options...>,
                                  detail::module::norm3, detail::module::dropout3>> {};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/attention_options.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One layer of a Transformer's encoder: self-attention and two Linear layers at every position,
/// each with a residual connection and a LayerNorm behind the sum: z = norm1(x + self_attn(x)), y =
/// norm2(z + linear2(f(linear1(z)))). With NormFirst z = x + self_attn(norm1(x)), y = z +
/// linear2(f(linear1(norm2(z)))).
///
/// shape    (N, Channels, T) -> (N, Channels, T)
/// options  a pointwise layer between the Linear layers, ReLU by default · NormFirst: LayerNorm in
///          front of each part instead · Dropout<probability>: of weights, between the Linear
///          layers and behind each part · Epsilon<1e-5> of LayerNorm · those of MultiheadAttention
///          but Bias
/// state    self_attn of MultiheadAttention · linear1, linear2, norm1, norm2, each weight and bias:
///          the names of torch.nn.TransformerEncoderLayer
/// errors   compile: as MultiheadAttention; other channels than stated
/// numerics as its parts
/// cost     8 N T C^2 + 4 N T^2 C + 4 N T C FeedForward flop
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.1; NormFirst:
///          Xiong et al., "On Layer Normalization in the Transformer Architecture", ICML 2020
template <int Channels, int Heads, int FeedForward, class... Options>
struct TransformerEncoderLayer {};

/// One layer of a Transformer's decoder: the same with an attention to a saved value m between the
/// two parts: z = norm1(x + self_attn(x)), u = norm2(z + multihead_attn(z, m)), y = norm3(u +
/// linear2(f(linear1(u)))). With NormFirst each norm is in front of its part.
///
/// shape    (N, Channels, T) -> (N, Channels, T), the saved value (N, Channels, T')
/// options  Memory: the tag of the saved value · those of TransformerEncoderLayer; Causal,
///          KeyPadding and Rotary apply to the self-attention alone
/// state    as TransformerEncoderLayer, and multihead_attn, norm3: the names of
///          torch.nn.TransformerDecoderLayer
/// errors   compile: as TransformerEncoderLayer and CrossAttention
/// numerics as its parts
/// cost     that of TransformerEncoderLayer and of CrossAttention
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.1
template <int Channels, int Heads, int FeedForward, class Memory, class... Options>
struct TransformerDecoderLayer {};

}  // namespace phyllo::inline PHYLLO_ISA

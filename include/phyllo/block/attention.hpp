// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/attention_options.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Self-attention: every position reads all positions of the same value, weighted by the softmax of
/// the products of its query with their keys, in Heads parts of the channels. With (Q, K, V) =
/// W_in x + b_in, of head h with d channels a_h = softmax over the keys of (Q_h K_h / sqrt(d)) V_h,
/// and y = W_out (a_0, a_1, ...) + b_out.
///
/// shape    (N, C, T) -> (N, C, T), C a multiple of Heads; a padding mask is (N, T) integers
/// options  Causal · KeyPadding<tag> · Dropout<probability>: of the weights · Rotary<base>: angles
///          of positions on queries and keys · Bias<true>
/// state    in_proj_weight (3 C, C), in_proj_bias (3 C), out_proj.weight (C, C), out_proj.bias (C):
///          the names of torch.nn.MultiheadAttention
/// errors   compile: another rank than one; channels that the heads do not divide; a wrong option;
///          a mask of other extents. A query without a key to read is not a number
/// numerics scores divided by the root of the channels of a head; the softmax in
///          Precision::accumulate
/// cost     8 N T C^2 + 4 N T^2 C flop; memory linear in T
/// source   Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2
template <int Heads, class... Options> struct MultiheadAttention {};

/// Attention to a saved value: MultiheadAttention with Q = W_q x + b_q of the current value, and
/// (K, V) = W_kv m + b_kv of the saved value m.
///
/// shape    (N, C, Tq) -> (N, C, Tq), the saved value (N, C, Tk); a padding mask is (N, Tk)
/// options  Tag: of a Save or NamedInput · those of MultiheadAttention but Rotary
/// state    as MultiheadAttention
/// errors   compile: as MultiheadAttention; a saved value with other channels
/// numerics as MultiheadAttention
/// cost     4 N (Tq + Tk) C^2 + 4 N Tq Tk C flop; memory linear in Tq and Tk
/// source   as MultiheadAttention
template <int Heads, class Tag, class... Options> struct CrossAttention {};

}  // namespace phyllo::inline PHYLLO_ISA

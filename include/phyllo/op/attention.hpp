// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/chain.hpp>
#include <phyllo/op/work_memory.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::op {

/// Channels of each position of a value: queries, keys or values, their results or gradients.
///
/// shape    (N, T, pitch): head h of `Width` channels is at h Width
template <class T> struct Heads {
  T* first = nullptr;
  int pitch = 0;  // elements from one position to the next

  PHYLLO_FUNCTION T* at(long position, int head, int width) const {
    return first + position * pitch + long(head) * width;
  }
  /// Whether the channels of every head begin at a multiple of 16 bytes.
  bool is_aligned(int width) const {
    return reinterpret_cast<std::uintptr_t>(first) % 16 == 0 && pitch * sizeof(T) % 16 == 0 &&
           width * sizeof(T) % 16 == 0;
  }
};

/// What both passes of an attention state.
struct AttentionShape {
  int batch = 0;
  int heads = 0, queries = 0, keys = 0;
  bool causal = false;
  std::int32_t const* mask = nullptr;  // (N, keys), not zero: the key is ignored; nullptr: none

  PHYLLO_FUNCTION bool ignores(long n, int q, int k) const {
    return (causal && k > q) || (mask != nullptr && mask[n * keys + k] != 0);
  }
  /// Keys that query q may read: the first ones.
  PHYLLO_FUNCTION int keys_of(int q) const { return causal && q + 1 < keys ? q + 1 : keys; }
  /// The first query that may read key k.
  PHYLLO_FUNCTION int first_query(int k) const { return causal ? k : 0; }
  /// The place of a weight in the sample, channels-last: what a random function is keyed by.
  PHYLLO_FUNCTION int element(int h, int q, int k) const { return (h * queries + q) * keys + k; }
};

/// Attention of one kernel: y = chain(softmax(Q K^T factor)) V for each sample and head, without
/// the matrix of queries and keys in memory.
///
/// shape    Q, y (N, Tq, heads Width) · K, V (N, Tk, heads Width)
/// options  Width: channels of a head · Chain: of pointwise functions that scale the weights: a
///          dropout, or none
/// numerics sums in the accumulation type; the softmax is formed key by key or block by block, with
///          the largest score so far; a query without a key is not a number
/// cost     4 N heads Tq Tk Width flop, and an exponential a score; backward 10
/// source   Milakov and Gimelshein, arXiv:1805.02867; Dao et al., "FlashAttention", NeurIPS 2022
template <int Width, class Chain> struct Attention {
  using chain = Chain;
  static constexpr int width = Width;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    AttentionShape shape;
    accumulate factor = 1;
    Heads<storage const> q, k, v;
    Heads<storage> y;
    accumulate* logsumexp = nullptr;  // (N, heads, Tq) of the scores; nullptr: none is kept
    Randomness random = {};
    WorkMemory memory = {};
  };

  /// Gradients of Q, K and V, of which the weights are computed again from the logsumexp.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    AttentionShape shape;
    accumulate factor = 1;
    Heads<storage const> q, k, v, y, d_y;
    accumulate const* logsumexp = nullptr;
    Heads<storage> d_q, d_k, d_v;  // a first element of nullptr: not wanted
    bool accumulate_q = false, accumulate_k = false, accumulate_v = false;
    // Workspace (N, heads, 2, Tk, Width) for sums, where storage is narrower.
    accumulate* partial = nullptr;
    Randomness random = {};
    WorkMemory memory = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

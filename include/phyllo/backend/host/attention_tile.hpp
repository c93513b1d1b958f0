// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/register_block.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>
#include <phyllo/core/elementary.hpp>
#include <phyllo/op/attention.hpp>

#include <Kokkos_NumericTraits.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// y(r, c) = sum over k of x(r, k) w(k, c), or y + that: tiles in the first-level cache.
///
/// shape    x: any strides · w, y: lines of vectors, of the last of them Last lanes
/// numerics sums in rising order of k
template <class A, int Last = lanes<A>> struct TileProduct {
  A const* x;
  long row_stride, depth_stride;
  A const* w;
  long w_stride;
  A* y;
  long y_stride;
  int rows, depth;
  bool add = false;

  static constexpr int widest = InstructionSet::registers >= 32 ? 4 : 2;

  PHYLLO_INLINE_ON_HOST void run(int vectors) const {
    int v = 0;
    for (; v + widest < vectors; v += widest) columns<widest, lanes<A>>(v);
    last<widest>(v, vectors - v);
  }

 private:
  // The last vectors; the very last may be partly filled.
  template <int Width> PHYLLO_INLINE_ON_HOST void last(int v, int width) const {
    if constexpr (Width > 0) {
      if (width == Width)
        columns<Width, Last>(v);
      else
        last<Width - 1>(v, width);
    }
  }
  template <int Width, int LastLanes> PHYLLO_NOINLINE void columns(int v) const {
    constexpr int most = (InstructionSet::registers - 1 - Width) / Width;
    constexpr int block = most > 12 ? 12 : most < 1 ? 1 : most;
    int r = 0;
    for (; r + block <= rows; r += block) multiply<block, Width, LastLanes>(r, v);
    if constexpr (block > 4)
      for (; r + 4 <= rows; r += 4) multiply<4, Width, LastLanes>(r, v);
    for (; r < rows; ++r) multiply<1, Width, LastLanes>(r, v);
  }
  template <int Rows, int Width, int LastLanes>
  PHYLLO_INLINE_ON_HOST void multiply(int r, int v) const {
    RegisterBlock<A, Rows, Width, LastLanes> b;
    A* const to = y + r * y_stride + v * lanes<A>;
    if (add)
      b.load_rows(to, y_stride);
    else
      b.template begin<A>(nullptr);
    b.multiply(x + r * row_stride, row_stride, depth_stride, w + v * lanes<A>, w_stride, depth);
    b.store_rows(to, y_stride);
  }
};

/// A block of queries of one head of one sample against blocks of keys, with queries in the lanes:
/// maxima and sums over keys are operations of whole vectors.
template <int Width, class P> struct AttentionTile {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int queries = 64, keys = 64;
  static constexpr bool widens = !std::is_same_v<S, A>;
  static constexpr int channel_vectors = vectors_of<A>(Width);
  static constexpr int last = Width - (channel_vectors - 1) * lanes<A>;
  static constexpr int line = channel_vectors * lanes<A>;

  /// Numbers of a sequence in the type of sums, one row behind the other: rows that are apart by a
  /// multiple of 256 bytes would share few sets of the first-level cache.
  struct Rows {
    A const* first;
    long pitch;
  };
  static Rows rows(S const* from, long pitch, int count, A* room) {
    for (int t = 0; t < count; ++t)
      for (int c = 0; c < Width; ++c) room[t * Width + c] = A(from[t * pitch + c]);
    return {room, Width};
  }
  /// to(c, t) = factor from(t, c), zero behind the last one; to: lines of `queries`.
  static void transpose(S const* from, long pitch, int count, int padded, A factor, A* to) {
    for (int t = 0; t < count; ++t)
      for (int c = 0; c < Width; ++c) to[c * queries + t] = A(from[t * pitch + c]) * factor;
    for (int c = 0; c < Width; ++c)
      for (int t = count; t < padded; ++t) to[c * queries + t] = A(0);
  }
  /// The same as lines of channels.
  static void copy(S const* from, long pitch, int count, A factor, A* to) {
    for (int t = 0; t < count; ++t)
      for (int c = 0; c < line; ++c)
        to[t * line + c] = c < Width ? A(from[t * pitch + c]) * factor : A(0);
  }
  /// to(t, c) = from(c, t) factor(t), or to + that.
  static void store(A const* from, A const* factor, int count, bool accumulate, S* to, long pitch) {
    for (int t = 0; t < count; ++t)
      for (int c = 0; c < Width; ++c) {
        A const x = factor != nullptr ? from[c * queries + t] * factor[t] : from[c * queries + t];
        S& y = to[t * pitch + c];
        y = S(accumulate ? A(y) + x : x);
      }
  }

  /// -infinity for what queries q .. q + padded - 1 do not read of keys k .. k + count - 1.
  static void ignore(op::AttentionShape const& s, long n, int q, int padded, int k, int count,
                     A* score) {
    constexpr A nothing = -Kokkos::Experimental::infinity_v<A>;
    bool const diagonal = s.causal && k + count - 1 > q;
    if (!diagonal && s.mask == nullptr) return;
    for (int i = 0; i < count; ++i) {
      A* const row = score + i * queries;
      int const masked = s.mask != nullptr && s.mask[n * s.keys + k + i] != 0 ? padded
                         : s.causal && k + i > q                              ? k + i - q
                                                                              : 0;
      for (int j = 0; j < masked && j < padded; ++j) row[j] = nothing;
    }
  }
  /// Scores of `count` keys, a line for each: x(k, c) times queries (c, q).
  PHYLLO_INLINE_ON_HOST static void multiply(Rows const& x, int count, A const* transposed,
                                             int padded, A* y) {
    TileProduct<A>{x.first, x.pitch, 1, transposed, queries, y, queries, count, Width}.run(
        padded / lanes<A>);
  }
  /// y(c, q) += sum over k of x(k, c) w(k, q).
  PHYLLO_INLINE_ON_HOST static void add_columns(Rows const& x, int count, A const* w, int padded,
                                                A* y) {
    TileProduct<A>{x.first, 1, x.pitch, w, queries, y, queries, Width, count, true}.run(padded /
                                                                                        lanes<A>);
  }
  /// y(k, c) (+)= sum over q of x(k, q) w(q, c).
  PHYLLO_INLINE_ON_HOST static void add_rows(A const* x, int keys_here, int queries_here,
                                             A const* w, A* y, long pitch, bool add) {
    TileProduct<A, last>{x, queries, 1, w, line, y, pitch, keys_here, queries_here, add}.run(
        channel_vectors);
  }
};

/// The softmax of a block of queries while blocks of keys pass by.
///
/// source   Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867
template <class A> struct OnlineSoftmax {
  static constexpr int L = lanes<A>;
  A* largest;  // (queries)
  A* sum;

  /// Scores (count keys, queries) of the vector at q to exponentials with the largest so far;
  /// factor: of what was summed before.
  PHYLLO_INLINE_ON_HOST void add(A* score, long stride, int count, int q, A (&factor)[L]) const {
    A top[L], total[L], shift[L];
    PHYLLO_SIMD(16)
    for (int l = 0; l < L; ++l) top[l] = largest[q + l];
    for (int k = 0; k < count; ++k) {
      A const* const row = score + k * stride + q;
      PHYLLO_SIMD(16)
      for (int l = 0; l < L; ++l) top[l] = row[l] > top[l] ? row[l] : top[l];
    }
    PHYLLO_SIMD(16)
    for (int l = 0; l < L; ++l) {
      // A query without a key so far has the largest score -infinity.
      shift[l] = top[l] == -Kokkos::Experimental::infinity_v<A> ? A(0) : top[l];
      factor[l] = decay(largest[q + l] - shift[l]);
      largest[q + l] = top[l];
      total[l] = sum[q + l] * factor[l];
    }
    for (int k = 0; k < count; ++k) {
      A* const row = score + k * stride + q;
      PHYLLO_SIMD(16)
      for (int l = 0; l < L; ++l) {
        A const e = decay(row[l] - shift[l]);
        row[l] = e;
        total[l] += e;
      }
    }
    PHYLLO_SIMD(16)
    for (int l = 0; l < L; ++l) sum[q + l] = total[l];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

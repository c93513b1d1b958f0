// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/attention_tile.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/attention.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A slice of work memory, cut into runs of numbers.
template <class A> struct SliceCutter {
  A* next;
  A* cut(int count) {
    A* const run = next;
    next += (count + 15) / 16 * 16;
    return run;
  }
};

/// One work item: a block of queries of one head of one sample.
template <int Width, class Chain, class P> struct attention_forward {
  using Tile = AttentionTile<Width, P>;
  using A = typename P::accumulate;
  static constexpr int queries = Tile::queries, keys = Tile::keys, L = lanes<A>;
  static constexpr long thread_bytes = long(sizeof(A)) * (2 * Width * queries + keys * queries +
                                                          3 * queries + 2 * keys * Width + 256);

  typename op::Attention<Width, Chain>::template Forward<P> work;
  int blocks, items, workers;

  void operator()(int worker) const {
    each_piece(worker, workers, items, [&](int item) {
      run(reinterpret_cast<A*>(work.memory.slice(worker)), item / blocks / work.shape.heads,
          item / blocks % work.shape.heads, item % blocks);
    });
  }

 private:
  void run(A* memory, long n, int h, int block) const {
    op::AttentionShape const& s = work.shape;
    SliceCutter<A> slice{memory};
    A *const q = slice.cut(Width * queries), *const y = slice.cut(Width * queries),
             *const score = slice.cut(keys * queries), *const largest = slice.cut(queries),
             *const sum = slice.cut(queries), *const share = slice.cut(queries);
    A *const k_room = slice.cut(keys * Width), *const v_room =
                                                   slice.cut(Tile::widens ? keys * Width : 0);
    int const first = block * queries;
    int const count = s.queries - first < queries ? s.queries - first : queries;
    int const padded = (count + L - 1) / L * L;
    long const query = n * s.queries + first;
    Tile::transpose(work.q.at(query, h, Width), work.q.pitch, count, padded, work.factor, q);
    for (int i = 0; i < Width * queries; ++i) y[i] = A(0);
    for (int i = 0; i < queries; ++i) {
      largest[i] = -Kokkos::Experimental::infinity_v<A>;
      sum[i] = A(0);
    }
    int const last = s.keys_of(first + count - 1);
    for (int k = 0; k < last; k += keys) {
      int const here = last - k < keys ? last - k : keys;
      long const key = n * s.keys + k;
      Tile::multiply(Tile::rows(work.k.at(key, h, Width), work.k.pitch, here, k_room), here, q,
                     padded, score);
      Tile::ignore(s, n, first, padded, k, here, score);
      for (int i = 0; i < padded; i += L) {
        A factor[L];
        OnlineSoftmax<A>{largest, sum}.add(score, queries, here, i, factor);
        if (k > 0)
          for (int c = 0; c < Width; ++c) {
            PHYLLO_SIMD(16)
            for (int l = 0; l < L; ++l) y[c * queries + i + l] *= factor[l];
          }
      }
      if constexpr (Chain::length > 0)
        for (int i = 0; i < here; ++i)
          for (int j = 0; j < count; ++j) {
            A& weight = score[i * queries + j];
            weight =
                Chain::value(weight, work.random.element(int(n), s.element(h, first + j, k + i)));
          }
      Tile::add_columns(Tile::rows(work.v.at(key, h, Width), work.v.pitch, here, v_room), here,
                        score, padded, y);
    }
    for (int i = 0; i < count; ++i) share[i] = A(1) / sum[i];
    Tile::store(y, share, count, false, work.y.at(query, h, Width), work.y.pitch);
    if (work.logsumexp != nullptr) {
      A* const kept = work.logsumexp + (n * s.heads + h) * s.queries + first;
      for (int i = 0; i < count; ++i) kept[i] = largest[i] + logarithm(sum[i]);
    }
  }
};

/// One work item: one head of one sample, block of queries by block of queries. Where storage is
/// narrower than sums, the gradients of keys and values are summed in the workspace.
template <int Width, class Chain, class P> struct attention_backward {
  using Tile = AttentionTile<Width, P>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int queries = Tile::queries, keys = Tile::keys, L = lanes<A>;
  static constexpr int line = Tile::line;
  static constexpr long thread_bytes =
      long(sizeof(A)) * (3 * Width * queries + 2 * line * queries + 2 * keys * queries +
                         2 * queries + 2 * keys * Width + 256);

  typename op::Attention<Width, Chain>::template Backward<P> work;
  int items, workers;

  void operator()(int worker) const {
    each_piece(worker, workers, items, [&](int item) {
      run(reinterpret_cast<A*>(work.memory.slice(worker)), item / work.shape.heads,
          item % work.shape.heads);
    });
  }

 private:
  struct Memory {
    A *q, *d_y, *d_q, *q_lines, *d_y_lines, *weight, *d_score, *mean, *log_sum, *k, *v;
  };
  // Where the gradients of keys or values are summed.
  struct Sums {
    A* first;
    long pitch;
    bool add;
  };

  void run(A* memory, long n, int h) const {
    op::AttentionShape const& s = work.shape;
    SliceCutter<A> slice{memory};
    Memory m{};
    m.q = slice.cut(Width * queries);
    m.d_y = slice.cut(Width * queries);
    m.d_q = slice.cut(Width * queries);
    m.q_lines = slice.cut(line * queries);
    m.d_y_lines = slice.cut(line * queries);
    m.weight = slice.cut(keys * queries);
    m.d_score = slice.cut(keys * queries);
    m.mean = slice.cut(queries);
    m.log_sum = slice.cut(queries);
    m.k = slice.cut(keys * Width);
    m.v = slice.cut(keys * Width);
    Sums d_k{}, d_v{};
    if constexpr (Tile::widens) {
      long const size = long(s.keys) * Width;
      A* const room = work.partial + (n * s.heads + h) * 2 * size;
      if (work.d_k.first != nullptr) d_k = {room, Width, false};
      if (work.d_v.first != nullptr) d_v = {room + size, Width, false};
    } else {
      if (work.d_k.first != nullptr)
        d_k = {work.d_k.at(n * s.keys, h, Width), work.d_k.pitch, work.accumulate_k};
      if (work.d_v.first != nullptr)
        d_v = {work.d_v.at(n * s.keys, h, Width), work.d_v.pitch, work.accumulate_v};
    }
    // Keys that a block of queries reads first were reached by none before.
    int reached = 0;
    for (int q = 0; q < s.queries; q += queries) {
      int const count = s.queries - q < queries ? s.queries - q : queries;
      run_queries(m, n, h, q, count, reached, d_k, d_v);
      reached = s.keys_of(q + count - 1);
    }
    finish(n, h, reached, d_k, d_v);
  }

  // Keys before `reached` have sums of earlier queries.
  void run_queries(Memory const& m, long n, int h, int first, int count, int reached,
                   Sums const& d_k, Sums const& d_v) const {
    op::AttentionShape const& s = work.shape;
    int const padded = (count + L - 1) / L * L;
    long const query = n * s.queries + first;
    S const *const q = work.q.at(query, h, Width), *const d_y = work.d_y.at(query, h, Width);
    Tile::transpose(q, work.q.pitch, count, padded, work.factor, m.q);
    Tile::transpose(d_y, work.d_y.pitch, count, padded, A(1), m.d_y);
    Tile::copy(q, work.q.pitch, count, work.factor, m.q_lines);
    Tile::copy(d_y, work.d_y.pitch, count, A(1), m.d_y_lines);
    for (int i = 0; i < padded; ++i) {
      m.mean[i] = m.log_sum[i] = A(0);
      if (i >= count) continue;
      S const* const y = work.y.at(query + i, h, Width);
      for (int c = 0; c < Width; ++c) m.mean[i] += m.d_y_lines[i * line + c] * A(y[c]);
      m.log_sum[i] = work.logsumexp[(n * s.heads + h) * s.queries + first + i];
    }
    for (int i = 0; i < Width * queries; ++i) m.d_q[i] = A(0);
    int const last = s.keys_of(first + count - 1);
    for (int k = 0; k < last;) {
      // A block has keys of one kind only: with earlier sums, or without.
      int const end = k < reached && reached < last ? reached : last;
      int const here = end - k < keys ? end - k : keys;
      run_keys(m, n, h, first, count, padded, k, here, k < reached, d_k, d_v);
      k += here;
    }
    if (work.d_q.first != nullptr) {
      for (int i = 0; i < Width * queries; ++i) m.d_q[i] *= work.factor;
      Tile::store(m.d_q, nullptr, count, work.accumulate_q, work.d_q.at(query, h, Width),
                  work.d_q.pitch);
    }
  }

  void run_keys(Memory const& m, long n, int h, int first, int count, int padded, int k, int here,
                bool again, Sums const& d_k, Sums const& d_v) const {
    op::AttentionShape const& s = work.shape;
    long const key = n * s.keys + k;
    auto const x = Tile::rows(work.k.at(key, h, Width), work.k.pitch, here, m.k);
    auto const v = Tile::rows(work.v.at(key, h, Width), work.v.pitch, here, m.v);
    Tile::multiply(x, here, m.q, padded, m.weight);
    Tile::ignore(s, n, first, padded, k, here, m.weight);
    Tile::multiply(v, here, m.d_y, padded, m.d_score);
    for (int i = 0; i < here; ++i) {
      A *const weight = m.weight + i * queries, *const d_score = m.d_score + i * queries;
      if constexpr (Chain::length == 0) {
        PHYLLO_SIMD(16)
        for (int j = 0; j < padded; ++j) {
          A const w = decay(weight[j] - m.log_sum[j]);
          weight[j] = w;
          d_score[j] = w * (d_score[j] - m.mean[j]);
        }
      } else {
        for (int j = 0; j < count; ++j) {
          Element const e = work.random.element(int(n), s.element(h, first + j, k + i));
          A const w = decay(weight[j] - m.log_sum[j]);
          weight[j] = Chain::value(w, e);
          d_score[j] = w * (d_score[j] * Chain::derivative(w, e) - m.mean[j]);
        }
      }
    }
    if (d_v.first != nullptr)
      Tile::add_rows(m.weight, here, count, m.d_y_lines, d_v.first + k * d_v.pitch, d_v.pitch,
                     again || d_v.add);
    if (d_k.first != nullptr)
      Tile::add_rows(m.d_score, here, count, m.q_lines, d_k.first + k * d_k.pitch, d_k.pitch,
                     again || d_k.add);
    if (work.d_q.first != nullptr) Tile::add_columns(x, here, m.d_score, padded, m.d_q);
  }

  // Zeros for keys that no query may read; sums of the workspace to their gradients.
  void finish(long n, int h, int reached, Sums const& d_k, Sums const& d_v) const {
    if (d_k.first != nullptr) finish(n, h, reached, d_k, work.d_k, work.accumulate_k);
    if (d_v.first != nullptr) finish(n, h, reached, d_v, work.d_v, work.accumulate_v);
  }
  void finish(long n, int h, int reached, Sums const& sums, op::Heads<S> const& to,
              bool accumulate) const {
    int const all = work.shape.keys;
    for (int k = Tile::widens ? 0 : reached; k < all; ++k) {
      S* const row = to.at(n * all + k, h, Width);
      for (int c = 0; c < Width; ++c) {
        A const x = k < reached ? sums.first[k * sums.pitch + c] : A(0);
        row[c] = S(accumulate ? A(row[c]) + x : x);
      }
    }
  }
};

template <int Width, class Chain, class P> struct Kernels<op::Attention<Width, Chain>, P> {
  using Op = op::Attention<Width, Chain>;
  using Forward = attention_forward<Width, Chain, P>;
  using Backward = attention_backward<Width, Chain, P>;
  static constexpr KernelTraits traits = {
      .thread_bytes = Forward::thread_bytes > Backward::thread_bytes ? Forward::thread_bytes
                                                                     : Backward::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    int const blocks = (work.shape.queries + Forward::queries - 1) / Forward::queries;
    int const items = work.shape.batch * work.shape.heads * blocks;
    int const workers = workers_of(exec, items, work.memory.slices);
    if (items > 0) launch(exec, label, workers, Forward{work, blocks, items, workers});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    int const items = work.shape.batch * work.shape.heads;
    int const workers = workers_of(exec, items, work.memory.slices);
    if (items > 0) launch(exec, label, workers, Backward{work, items, workers});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

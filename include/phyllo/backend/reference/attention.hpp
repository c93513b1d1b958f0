// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/attention.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <int Width, class Chain, class P> struct Kernels<op::Attention<Width, Chain>, P> {
  using Op = op::Attention<Width, Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Row = std::vector<A>;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    op::AttentionShape const& s = work.shape;
    for (int n = 0; n < s.batch; ++n)
      for (int h = 0; h < s.heads; ++h)
        for (int q = 0; q < s.queries; ++q) {
          Row const score = scores(work, n, h, q);
          A largest = score[0], sum = 0;
          for (A x : score) largest = x > largest ? x : largest;
          for (A x : score) sum += std::exp(x - largest);
          A const log_sum = largest + std::log(sum);
          if (work.logsumexp != nullptr) work.logsumexp[row(s, n, h, q)] = log_sum;
          Row y(Width, A(0));
          for (int k = 0; k < s.keys; ++k) {
            A const weight = std::exp(score[std::size_t(k)] - largest) / sum;
            A const kept = Chain::value(weight, work.random.element(n, s.element(h, q, k)));
            for (int c = 0; c < Width; ++c)
              y[std::size_t(c)] += kept * A(key(work.v, s, n, h, k)[c]);
          }
          for (int c = 0; c < Width; ++c)
            work.y.at(long(n) * s.queries + q, h, Width)[c] = S(y[std::size_t(c)]);
        }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    op::AttentionShape const& s = work.shape;
    for (int n = 0; n < s.batch; ++n)
      for (int h = 0; h < s.heads; ++h) run_head(work, n, h);
  }

 private:
  using Backward = typename Op::template Backward<P>;

  static long row(op::AttentionShape const& s, int n, int h, int q) {
    return (long(n) * s.heads + h) * s.queries + q;
  }
  template <class Of>
  static S const* key(Of const& of, op::AttentionShape const& s, int n, int h, int k) {
    return of.at(long(n) * s.keys + k, h, Width);
  }
  template <class Of>
  static S const* query(Of const& of, op::AttentionShape const& s, int n, int h, int q) {
    return of.at(long(n) * s.queries + q, h, Width);
  }
  static A dot(S const* a, S const* b) {
    A sum = 0;
    for (int c = 0; c < Width; ++c) sum += A(a[c]) * A(b[c]);
    return sum;
  }
  template <class Work> static Row scores(Work const& work, int n, int h, int q) {
    op::AttentionShape const& s = work.shape;
    Row score(std::size_t(s.keys), -std::numeric_limits<A>::infinity());
    for (int k = 0; k < s.keys; ++k)
      if (!s.ignores(n, q, k))
        score[std::size_t(k)] =
            dot(query(work.q, s, n, h, q), key(work.k, s, n, h, k)) * work.factor;
    return score;
  }

  // One head of one sample: its rows of weights one after the other.
  static void run_head(Backward const& work, int n, int h) {
    op::AttentionShape const& s = work.shape;
    Row d_k(std::size_t(s.keys) * Width, A(0)), d_v = d_k;
    for (int q = 0; q < s.queries; ++q) {
      Row const score = scores(work, n, h, q);
      S const* const d_y = query(work.d_y, s, n, h, q);
      A const mean = dot(d_y, query(work.y, s, n, h, q));
      Row d_q(Width, A(0));
      for (int k = 0; k < s.keys; ++k) {
        Element const e = work.random.element(n, s.element(h, q, k));
        A const weight = std::exp(score[std::size_t(k)] - work.logsumexp[row(s, n, h, q)]);
        A const d_weight = dot(d_y, key(work.v, s, n, h, k)) * Chain::derivative(weight, e);
        A const d_score = weight * (d_weight - mean) * work.factor;
        for (int c = 0; c < Width; ++c) {
          auto const at = std::size_t(k) * Width + std::size_t(c);
          d_v[at] += Chain::value(weight, e) * A(d_y[c]);
          d_k[at] += d_score * A(query(work.q, s, n, h, q)[c]);
          d_q[std::size_t(c)] += d_score * A(key(work.k, s, n, h, k)[c]);
        }
      }
      if (work.d_q.first != nullptr)
        write(work.d_q.at(long(n) * s.queries + q, h, Width), d_q.data(), work.accumulate_q);
    }
    for (int k = 0; k < s.keys; ++k) {
      long const at = long(n) * s.keys + k;
      if (work.d_k.first != nullptr)
        write(work.d_k.at(at, h, Width), d_k.data() + k * Width, work.accumulate_k);
      if (work.d_v.first != nullptr)
        write(work.d_v.at(at, h, Width), d_v.data() + k * Width, work.accumulate_v);
    }
  }
  static void write(S* to, A const* from, bool accumulate) {
    for (int c = 0; c < Width; ++c) to[c] = S(accumulate ? A(to[c]) + from[c] : from[c]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/attention.hpp>
#include <phyllo/op/attention_row.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// A row of queries or keys: its sample, head and position.
struct AttentionPlace {
  long n;
  int h, t;
  PHYLLO_FUNCTION AttentionPlace(long item, int heads, int positions)
      : n(item / positions / heads), h(int(item / positions % heads)), t(int(item % positions)) {}
};

/// Whether `rows` rows of a work item find room in the registers of a device, of 255 for a thread.
template <class A, int Width> constexpr bool holds(int rows) {
  return rows * Width * int(sizeof(A)) <= 512;
}

/// One work item: one query of one head. Neighbouring items read the same keys.
template <int Width, class Chain, class P> struct attention_forward {
  using A = typename P::accumulate;
  using Row = op::HeadRow<A, Width, holds<A, Width>(2), typename P::storage>;
  typename op::Attention<Width, Chain>::template Forward<P> work;
  bool aligned = work.q.is_aligned(Width) && work.k.is_aligned(Width) && work.v.is_aligned(Width);

  PHYLLO_FUNCTION void operator()(long item) const {
    op::AttentionShape const& s = work.shape;
    AttentionPlace const at(item, s.heads, s.queries);
    Row const q(work.q.at(at.n * s.queries + at.t, at.h, Width), aligned);
    op::AttentionRow<A, Width> row;
    for (int k = 0; k < s.keys_of(at.t); ++k) {
      if (s.ignores(at.n, at.t, k)) continue;
      long const key = at.n * s.keys + k;
      A const kept = Chain::value(A(1), work.random.element(int(at.n), s.element(at.h, at.t, k)));
      A const score = op::dot<A, Width>(q, Row(work.k.at(key, at.h, Width), aligned));
      row.add(score * work.factor, kept, Row(work.v.at(key, at.h, Width), aligned));
    }
    A const share = A(1) / row.sum;
    auto* const y = work.y.at(at.n * s.queries + at.t, at.h, Width);
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < Width; ++c) y[c] = typename P::storage(row.value[c] * share);
    if (work.logsumexp != nullptr) work.logsumexp[item] = row.largest + logarithm(row.sum);
  }
};

/// What one score contributes to the gradients.
template <int Width, class Chain, class P> struct AttentionGradient {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Row = op::HeadRow<A, Width, holds<A, Width>(4), S>;
  typename op::Attention<Width, Chain>::template Backward<P> work;
  bool aligned = work.q.is_aligned(Width) && work.k.is_aligned(Width) && work.v.is_aligned(Width) &&
                 work.y.is_aligned(Width) && work.d_y.is_aligned(Width);

  struct Terms {
    A kept;     // weight after the chain, of d_v
    A d_score;  // of d_q and d_k, the factor included
  };
  PHYLLO_INLINE Row row(op::Heads<S const> const& from, long position, int h) const {
    return Row(from.at(position, h, Width), aligned);
  }
  // Sum over the keys of weight times its gradient.
  PHYLLO_INLINE A mean(long query, int h, Row const& d_y) const {
    return op::dot<A, Width>(d_y, row(work.y, query, h));
  }
  /// Of query q and key k: their rows, of the gradient d_y and of the value v.
  PHYLLO_INLINE Terms terms(long n, int h, int q, int k, A mean, Row const& q_row, Row const& d_y,
                            Row const& k_row, Row const& v) const {
    op::AttentionShape const& s = work.shape;
    A const log_sum = work.logsumexp[(n * s.heads + h) * s.queries + q];
    A const weight = decay(op::dot<A, Width>(q_row, k_row) * work.factor - log_sum);
    Element const e = work.random.element(int(n), s.element(h, q, k));
    A const d_weight = op::dot<A, Width>(d_y, v) * Chain::derivative(weight, e);
    return {Chain::value(weight, e), weight * (d_weight - mean) * work.factor};
  }
  PHYLLO_INLINE static void write(S* to, A const* from, bool accumulate) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < Width; ++c) to[c] = S(accumulate ? A(to[c]) + from[c] : from[c]);
  }
};

/// One work item: the gradient of one query of one head.
template <int Width, class Chain, class P> struct attention_backward_queries {
  using A = typename P::accumulate;
  using Gradient = AttentionGradient<Width, Chain, P>;
  Gradient of;

  PHYLLO_FUNCTION void operator()(long item) const {
    op::AttentionShape const& s = of.work.shape;
    AttentionPlace const at(item, s.heads, s.queries);
    long const query = at.n * s.queries + at.t;
    typename Gradient::Row const q = of.row(of.work.q, query, at.h),
                                 d_y = of.row(of.work.d_y, query, at.h);
    A const mean = of.mean(query, at.h, d_y);
    A d_q[Width] = {};
    for (int k = 0; k < s.keys_of(at.t); ++k) {
      if (s.ignores(at.n, at.t, k)) continue;
      long const key = at.n * s.keys + k;
      typename Gradient::Row const x = of.row(of.work.k, key, at.h);
      auto const terms =
          of.terms(at.n, at.h, at.t, k, mean, q, d_y, x, of.row(of.work.v, key, at.h));
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < Width; ++c) d_q[c] += terms.d_score * A(x[c]);
    }
    of.write(of.work.d_q.at(query, at.h, Width), d_q, of.work.accumulate_q);
  }
};

/// One work item: the gradients of one key of one head and of its value.
template <int Width, class Chain, class P> struct attention_backward_keys {
  using A = typename P::accumulate;
  using Gradient = AttentionGradient<Width, Chain, P>;
  Gradient of;

  PHYLLO_FUNCTION void operator()(long item) const {
    op::AttentionShape const& s = of.work.shape;
    AttentionPlace const at(item, s.heads, s.keys);
    long const key = at.n * s.keys + at.t;
    typename Gradient::Row const k = of.row(of.work.k, key, at.h), v = of.row(of.work.v, key, at.h);
    A d_k[Width] = {}, d_v[Width] = {};
    for (int q = s.first_query(at.t); q < s.queries; ++q) {
      if (s.ignores(at.n, q, at.t)) continue;
      long const query = at.n * s.queries + q;
      typename Gradient::Row const x = of.row(of.work.q, query, at.h),
                                   d_y = of.row(of.work.d_y, query, at.h);
      auto const terms = of.terms(at.n, at.h, q, at.t, of.mean(query, at.h, d_y), x, d_y, k, v);
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < Width; ++c) {
        d_k[c] += terms.d_score * A(x[c]);
        d_v[c] += terms.kept * A(d_y[c]);
      }
    }
    if (of.work.d_k.first != nullptr)
      of.write(of.work.d_k.at(key, at.h, Width), d_k, of.work.accumulate_k);
    if (of.work.d_v.first != nullptr)
      of.write(of.work.d_v.at(key, at.h, Width), d_v, of.work.accumulate_v);
  }
};

template <int Width, class Chain, class P> struct Kernels<op::Attention<Width, Chain>, P> {
  using Op = op::Attention<Width, Chain>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    op::AttentionShape const& s = work.shape;
    launch(exec, label, long(s.batch) * s.heads * s.queries,
           attention_forward<Width, Chain, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    op::AttentionShape const& s = work.shape;
    long const rows = long(s.batch) * s.heads;
    if (work.d_q.first != nullptr)
      launch(exec, label, rows * s.queries, attention_backward_queries<Width, Chain, P>{{work}});
    if (work.d_k.first != nullptr || work.d_v.first != nullptr)
      launch(exec, label, rows * s.keys, attention_backward_keys<Width, Chain, P>{{work}});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

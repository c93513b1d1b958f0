// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/attention_options.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/kind/facts.hpp>
#include <phyllo/op/attention.hpp>
#include <phyllo/op/product.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

template <class Planned, int S> inline constexpr bool is_attention = Planned::attends(S);

/// Step S that is one product of matrices: its operands in memory.
template <class Planned, int S> struct ProductFacts {
  using L = typename Planned::template Leaf<S>;
  static constexpr Node n = Planned::head(S);
  static constexpr bool is_scores = L::part == AttentionPart::scores;
  static constexpr Shape a = n.source_shape[0];
  static constexpr Shape b = n.source_shape[1];

  // Of scores queries, keys; of values weights, values. A part of channels by its first one.
  static constexpr ChannelPart a_part = [] {
    if constexpr (is_scores)
      return L::query;
    else
      return ChannelPart{};
  }();
  static constexpr ChannelPart b_part = [] {
    if constexpr (is_scores)
      return L::key;
    else
      return L::value;
  }();
  static constexpr int a_first = a_part.first(a.channels), b_first = b_part.first(b.channels);
  static constexpr bool a_is_whole = a_part.count == 1, b_is_whole = b_part.count == 1;
  static constexpr int width = b_part.size(b.channels) / L::heads;

  static constexpr op::MatrixPlace transposed(op::MatrixPlace const& p) {
    return {p.sample, p.head, p.column, p.row};
  }
  // The channels of each position by head, and the weights of each query.
  static constexpr op::MatrixPlace by_head(Shape const& s) {
    return {s.size(), width, s.channels, 1};
  }
  static constexpr op::MatrixPlace weights(int queries, int keys) {
    return {long(L::heads) * queries * keys, queries * keys, keys, 1};
  }

  /// Extents and places of the forward product.
  template <class Pass> static auto work(Pass const& pass) {
    using A = typename Pass::accumulate;
    op::Product::Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.heads = L::heads;
    int const keys = b.positions();
    work.rows = is_scores ? a.positions() : n.output.positions();
    work.columns = is_scores ? keys : width;
    work.depth = is_scores ? width : keys;
    if (is_scores) work.factor = A(1) / Kokkos::sqrt(A(width));
    work.a_place = is_scores ? by_head(a) : weights(work.rows, keys);
    work.b_place = is_scores ? transposed(by_head(b)) : by_head(b);
    work.y_place = is_scores ? weights(work.rows, keys) : by_head(n.output);
    return work;
  }
};

/// The operands of step S that is a whole attention.
template <class Planned, int S> struct AttentionFacts {
  using Scores = typename Planned::template Leaf<S>;
  using Values = At<typename Planned::leaves, std::size_t(Planned::result(S))>;
  static constexpr int heads = Scores::heads;
  static constexpr bool causal = Scores::causal, masked = Scores::masked;
  // Numbers of the step's sources.
  static constexpr int q = 0, k = 1, mask = 2, v = masked ? 3 : 2;
  static constexpr int source(int i) { return Planned::liveness.source(S, i); }
  static constexpr Shape q_shape = Planned::head(S).source_shape[0];
  static constexpr Shape k_shape = Planned::head(S).source_shape[1];
  static constexpr Shape v_shape = Planned::node(Planned::result(S)).source_shape[1];
  static constexpr Shape y_shape = Planned::node(Planned::result(S)).output;
  static constexpr int width = y_shape.channels / heads;
  static constexpr int queries = q_shape.positions(), keys = k_shape.positions();
  static constexpr int q_first = Scores::query.first(q_shape.channels);
  static constexpr int k_first = Scores::key.first(k_shape.channels);
  static constexpr int v_first = Values::value.first(v_shape.channels);
  static constexpr int q_pitch = q_shape.channels, k_pitch = k_shape.channels,
                       v_pitch = v_shape.channels;

  // Whether the parts that the step reads are all channels of its source i.
  static constexpr bool is_whole(int i) {
    int const at = source(i);
    long elements = 0;
    for (int j : {q, k, v})
      elements += source(j) == at ? long(y_shape.channels) * (j == q ? queries : keys) : 0;
    return elements == Planned::node(at).output.size();
  }
};

/// The op of a product: one, or a whole attention.
template <class Planned, int S, bool IsAttention> struct ProductOp {
  using type = op::Product;
};
template <class Planned, int S> struct ProductOp<Planned, S, true> {
  using type =
      op::Attention<AttentionFacts<Planned, S>::width, typename Planned::template Chain<S>>;
};

/// Both passes of a step that is a whole attention.
template <class Planned, int S> struct AttentionStep {
  using F = AttentionFacts<Planned, S>;
  using Op = typename ProductOp<Planned, S, true>::type;

  template <class Pass> static void forward(Pass const& pass) {
    typename Op::template Forward<typename Pass::precision> work;
    fill(pass, work);
    work.y = {pass.value(Planned::result(S)), F::y_shape.channels};
    if constexpr (Planned::phase == Phase::training)
      work.logsumexp = pass.template kept<typename Pass::accumulate>(S, 0);
    pass.template run<Op>(S, work);
  }

  template <class Pass> static void backward(Pass const& pass) {
    using Storage = typename Pass::storage;
    bool const wants_q = pass.template wants<S>(F::q), wants_k = pass.template wants<S>(F::k),
               wants_v = pass.template wants<S>(F::v);
    if (!wants_q && !wants_k && !wants_v) return;
    typename Op::template Backward<typename Pass::precision> work;
    fill(pass, work);
    work.y = {pass.value(Planned::result(S)), F::y_shape.channels};
    work.d_y = {pass.template result_gradient<S>(), F::y_shape.channels};
    work.logsumexp = pass.template kept<typename Pass::accumulate>(S, 0);
    work.partial = pass.arenas.partial;
    auto const gradient = [&](int i, int first, int pitch) {
      return op::Heads<Storage>{pass.gradient(F::source(i)) + first, pitch};
    };
    if (wants_q) work.d_q = gradient(F::q, F::q_first, F::q_pitch);
    if (wants_k) work.d_k = gradient(F::k, F::k_first, F::k_pitch);
    if (wants_v) work.d_v = gradient(F::v, F::v_first, F::v_pitch);
    if (wants_q) work.accumulate_q = begin<F::q>(pass);
    if (wants_k) work.accumulate_k = begin<F::k>(pass);
    if (wants_v) work.accumulate_v = begin<F::v>(pass);
    pass.template run<Op>(S, work);
  }

 private:
  // Whether the gradient of source I is added to what is there. Parts of one value, each written by
  // itself, find the same.
  template <int I, class Pass> static bool begin(Pass const& pass) {
    constexpr int first = F::source(F::q) == F::source(I)   ? F::q
                          : F::source(F::k) == F::source(I) ? F::k
                                                            : F::v;
    if constexpr (F::is_whole(I)) return Planned::liveness.accumulates(S, first);
    return pass.template begin_gradient<S>(I, false);
  }
  template <class Pass, class Work> static void fill(Pass const& pass, Work& work) {
    using A = typename Pass::accumulate;
    work.shape = {pass.batch, F::heads, F::queries, F::keys, F::causal, nullptr};
    if constexpr (F::masked) work.shape.mask = pass.integers(F::source(F::mask));
    work.factor = A(1) / Kokkos::sqrt(A(F::width));
    work.q = {pass.value(F::source(F::q)) + F::q_first, F::q_pitch};
    work.k = {pass.value(F::source(F::k)) + F::k_first, F::k_pitch};
    work.v = {pass.value(F::source(F::v)) + F::v_first, F::v_pitch};
    work.random = pass.template randomness<S>();
    work.memory = pass.arenas.memory;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

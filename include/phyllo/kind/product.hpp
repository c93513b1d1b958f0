// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/attention.hpp>
#include <phyllo/kind/facts.hpp>
#include <phyllo/kind/in_kernel_product.hpp>
#include <phyllo/op/product.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Products of two values, head by head: the scores of an attention, and the sums of its values. A
/// step of scores, softmax and sums is one kernel, kind/attention.hpp.
template <> struct Kind<Role::product> {
  static constexpr KindFacts facts{.mask_source = 2, .rereads_sources = true};

  template <class L> static constexpr bool join(Node& n, Shape const* sources) {
    if constexpr (L::part == AttentionPart::scores) {
      Shape const &q = sources[0], &k = sources[1];
      int const channels = L::query.size(q.channels);
      n.output = Shape(k.positions(), L::heads, q.positions());
      return n.sources == (L::masked ? 3 : 2) && k.rank == 1 && L::key.divides(k.channels) &&
             L::key.size(k.channels) == channels &&
             (!L::masked || sources[2].size() == k.positions());
    } else {
      Shape const &p = sources[0], &v = sources[1];
      n.output = Shape(L::value.size(v.channels), p.spatial[2]);
      return n.sources == 2 && v.rank == 1 && v.positions() == p.channels &&
             p.spatial[1] == L::heads && L::value.divides(v.channels) &&
             L::value.size(v.channels) % L::heads == 0;
    }
  }
  template <class L> static constexpr void describe(Node& n, Shape const* sources) {
    n.part = L::part;
    if constexpr (L::part == AttentionPart::scores) {
      int const channels = L::query.size(sources[0].channels), queries = sources[0].positions();
      n.flops = 2L * channels * queries * sources[1].positions();
      // Of one kernel: the logsumexp of each query, and sums of the gradients of K and V.
      n.saved[0] = {L::heads * queries, ValueType::accumulate, true};
      n.narrow_partial_count = 2 * channels * sources[1].positions();
    } else {
      n.flops = 2L * n.output.size() * sources[1].positions();
    }
    n.source_gradient_flops = 2 * n.flops;
  }

  template <class Planned, int S>
  using Op = typename detail::ProductOp<Planned, S, detail::is_attention<Planned, S>>::type;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    if constexpr (detail::is_attention<Planned, S>) {
      detail::AttentionStep<Planned, S>::forward(pass);
    } else {
      using F = detail::ProductFacts<Planned, S>;
      auto work = F::work(pass);
      work.a = pass.value(F::n.source[0]) + F::a_first;
      work.b = pass.value(F::n.source[1]) + F::b_first;
      work.y = pass.value(Planned::result(S));
      if constexpr (F::is_scores) {
        work.causal = F::L::causal;
        if constexpr (F::L::masked) work.mask = pass.integers(F::n.source[2]);
      }
      pass.template run<op::Product>(S, work);
    }
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    if constexpr (detail::is_attention<Planned, S>) {
      detail::AttentionStep<Planned, S>::backward(pass);
    } else {
      using F = detail::ProductFacts<Planned, S>;
      auto const forward = F::work(pass);
      auto const* const d_y = pass.template result_gradient<S>();
      // d_a = d_y b^T
      if (pass.template wants<S>(0)) {
        auto work = forward;
        work.accumulate = pass.template begin_gradient<S>(0, F::a_is_whole);
        work.columns = forward.depth;
        work.depth = forward.columns;
        work.a = d_y;
        work.a_place = forward.y_place;
        work.b = pass.value(F::n.source[1]) + F::b_first;
        work.b_place = F::transposed(forward.b_place);
        work.y = pass.gradient(F::n.source[0]) + F::a_first;
        work.y_place = forward.a_place;
        pass.template run<op::Product>(S, work);
      }
      // d_b = a^T d_y
      if (pass.template wants<S>(1)) {
        auto work = forward;
        work.accumulate = pass.template begin_gradient<S>(1, F::b_is_whole);
        work.rows = forward.depth;
        work.depth = forward.rows;
        work.a = pass.value(F::n.source[0]) + F::a_first;
        work.a_place = F::transposed(forward.a_place);
        work.b = d_y;
        work.b_place = forward.y_place;
        work.y = pass.gradient(F::n.source[1]) + F::b_first;
        work.y_place = forward.b_place;
        pass.template run<op::Product>(S, work);
      }
    }
  }

  /// One item is an element of the result; of an attention, a query of a head.
  template <class Facts, int>
  static constexpr int items = detail::in_kernel_items<typename Facts::Plan, Facts::index>;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    if constexpr (detail::is_attention<typename Step::Facts::Plan, Step::Facts::index>)
      detail::InKernelAttention<Step>::run(step, i);
    else
      detail::InKernelProduct<Step>::run(step, i);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

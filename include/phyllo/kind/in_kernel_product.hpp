// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/attention.hpp>
#include <phyllo/op/attention_row.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// Elements of the result; of an attention, queries of all heads.
template <class Planned, int S>
inline constexpr int in_kernel_items =
    is_attention<Planned, S>
        ? Planned::template Leaf<S>::heads * Planned::node(Planned::result(S)).output.positions()
        : Planned::node(Planned::result(S)).output.size();

/// One element of the scores, or of the sums of values, inside a kernel.
///
/// options  Step: InKernelStep
template <class Step> struct InKernelProduct {
  using T = typename Step::T;
  using P = ProductFacts<typename Step::Facts::Plan, Step::Facts::index>;
  static constexpr int heads = P::L::heads, width = P::width;
  static constexpr int a_first = P::a_first, b_first = P::b_first;
  static constexpr int a_pitch = P::a.channels, b_pitch = P::b.channels;
  static constexpr int queries = P::is_scores ? P::a.positions() : P::n.output.positions();

  PHYLLO_FUNCTION static void run(Step const& step, int i) {
    auto const *const a = step.template source<0>(), *const b = step.template source<1>();
    T sum = T(0);
    if constexpr (P::is_scores) {
      constexpr int keys = Step::O;
      int const k = i % keys, q = i / keys % queries, h = i / keys / queries;
      if (P::L::causal && k > q) return step.write_raw(i, -Kokkos::Experimental::infinity_v<T>);
      for (int c = 0; c < width; ++c)
        sum += T(a[q * a_pitch + a_first + h * width + c]) *
               T(b[k * b_pitch + b_first + h * width + c]);
      step.write_raw(i, sum * (T(1) / Kokkos::sqrt(T(width))));
    } else {
      constexpr int keys = Step::C;
      int const c = i % Step::O, q = i / Step::O, h = c / width;
      for (int k = 0; k < keys; ++k)
        sum += T(a[(h * queries + q) * keys + k]) * T(b[k * b_pitch + b_first + c]);
      step.write_raw(i, sum);
    }
  }
};

/// One query of one head of an attention inside a kernel.
template <class Step> struct InKernelAttention {
  using T = typename Step::T;
  using A = AttentionFacts<typename Step::Facts::Plan, Step::Facts::index>;
  static constexpr int heads = A::heads, width = A::width, keys = A::keys, v_source = A::v;
  static constexpr bool causal = A::causal;
  static constexpr int q_first = A::q_first, k_first = A::k_first, v_first = A::v_first;
  static constexpr int q_pitch = A::q_pitch, k_pitch = A::k_pitch, v_pitch = A::v_pitch;

  PHYLLO_FUNCTION static void run(Step const& step, int i) {
    int const h = i % heads, q = i / heads;
    auto const* const query = step.template source<0>() + q * q_pitch + q_first + h * width;
    auto const* const key = step.template source<1>() + k_first + h * width;
    auto const* const value = step.template source<v_source>() + v_first + h * width;
    op::AttentionRow<T, width> row;
    T const factor = T(1) / Kokkos::sqrt(T(width));
    int const last = causal && q + 1 < keys ? q + 1 : keys;
    for (int k = 0; k < last; ++k)
      row.add(op::dot<T, width>(query, key + k * k_pitch) * factor, T(1), value + k * v_pitch);
    T const share = T(1) / row.sum;
    for (int c = 0; c < width; ++c)
      step.write_raw(q * heads * width + h * width + c, row.value[c] * share);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/kind/in_kernel_scan.hpp>
#include <phyllo/op/contraction.hpp>
#include <phyllo/op/scan.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One recurrence of a recurrent layer. Its sources: the input's part of all sums, the initial
/// states of all recurrences of the layer side by side, the lengths.
///
/// state    the layer's `cell`, `hidden`, `reverse`, `has_bias`, `initial_states`,
///          `has_lengths`, `carried_from`, and which of how many recurrences it is, `place` of
///          `places`
template <> struct Kind<Role::scan> {
  static constexpr KindFacts facts{};

  template <class L> static constexpr bool reads_integers(int source) {
    return L::has_lengths && source == 1 + L::initial_states;
  }

  template <class L> static constexpr void describe(Node& n, Shape const* sources) {
    using Op = op::Scan<typename L::cell, L::hidden>;
    int const times = n.input.positions();
    for (int s = 1; s <= L::initial_states; ++s)
      n.ok = n.ok && sources[s].positions() == 1 && sources[s].channels == L::places * L::hidden;
    if (L::has_lengths) n.ok = n.ok && sources[1 + L::initial_states].size() == 1;
    if (!n.ok) return;
    if (detail::exceeds_int(times, Op::kept_storage, sizeof(double)) ||
        detail::exceeds_int(L::hidden, Op::products)) {
      n.ok = false;
      n.oversized = true;
      return;
    }
    ParameterTensor w;
    w.channels = L::hidden;
    w.outputs = Op::products;
    w.count = L::hidden * Op::products;
    w.file[0] = Op::products;
    w.file[1] = L::hidden;
    w.file_rank = 2;
    w.gives_source_gradient = true;
    n.parameter[0] = w;
    if (L::has_bias) n.parameter[1] = ParameterTensor::vector("", Op::products, Initial::zero);
    n.saved[0] = {times * Op::kept_storage, ValueType::storage};
    n.saved[1] = {times * Op::kept_accumulate, ValueType::accumulate};
    n.overwrites_source = true;
    n.rereads_source = L::has_lengths;  // and no initial states
    n.first_reread = 1 + L::initial_states;
    n.flops = 2L * w.count * times + 10L * Op::products * times;
    n.parameter_gradient_flops = 2L * w.count * times;
    n.source_gradient_flops = n.flops;
  }

  template <class Planned, int S>
  using Op = op::Scan<typename Planned::template Leaf<S>::cell, Planned::template Leaf<S>::hidden>;
  /// Of the gradients of its weights.
  template <class, int> using BackwardOp = op::Contraction<op::Chain<>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using L = typename Planned::template Leaf<S>;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    fill<S>(pass, work);
    work.x = pass.value(n.source[0]);
    work.bias = pass.parameter(n.parameter[1]);
    for (int s = 0; s < L::initial_states; ++s)
      work.initial[s] = {pass.value(n.source[1 + s]), L::places * L::hidden, L::place * L::hidden,
                         false};
    work.y = pass.value(Planned::result(S));
    if constexpr (Planned::phase == Phase::training) {
      work.keep = pass.value(n.source[0]);
      work.keep_more = kept<S>(pass);
      work.h_before = work.keep_more + rows<S>(pass) * Op<Planned, S>::more_kept * L::hidden;
      work.before = before<S>(pass);
    }
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using L = typename Planned::template Leaf<S>;
    using P = typename Pass::precision;
    using Scan = Op<Planned, S>;
    using Weights = BackwardOp<Planned, S>;
    constexpr Node n = Planned::head(S);
    typename Scan::template Backward<P> work;
    fill<S>(pass, work);
    auto* const storage = kept<S>(pass);
    work.keep_more = storage;
    work.h_before = storage + rows<S>(pass) * Scan::more_kept * L::hidden;
    work.before = before<S>(pass);
    work.d_y = pass.template result_gradient<S>();
    work.d_x = pass.gradient(n.source[0]);
    if constexpr (L::cell::splits_gradient)
      work.d_r = storage + rows<S>(pass) * (Scan::more_kept + 1) * L::hidden;
    for (int s = 0; s < L::initial_states; ++s)
      if (pass.template wants<S>(1 + s))
        work.d_initial[s] = {pass.gradient(n.source[1 + s]), L::places * L::hidden,
                             L::place * L::hidden, Planned::liveness.accumulates(S, 1 + s)};
    pass.template run<Scan>(S, work);
    typename Weights::template BackwardParameters<P> weights;
    weights.batch = pass.batch;
    weights.input = n.input.with_channels(L::hidden);
    weights.output = n.input;
    weights.x = work.h_before;
    weights.d_z = L::cell::splits_gradient ? work.d_r : work.d_x;
    weights.d_weight = pass.parameter_gradient(n.parameter[0]);
    weights.d_bias = pass.parameter_gradient(n.parameter[1]);
    weights.partial = pass.arenas.partial;
    weights.memory = pass.arenas.memory;
    pass.template run<Weights>(S, weights);
  }

  /// One item is a unit; of several times, which wait for each other, all are one item.
  template <class Facts, int>
  static constexpr int items = Facts::out_positions == 1 ? Facts::head.parameter[0].channels : 1;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    detail::InKernelScan<Step>::run(step, i);
  }
  template <class Step> static void in_cells(Step const& step) {
    detail::CellScan<Step>::run(step);
  }

 private:
  template <int S, class Pass> static long rows(Pass const& pass) {
    return long(pass.batch) * Pass::plan::head(S).input.positions();
  }
  template <int S, class Pass> static auto* kept(Pass const& pass) {
    return pass.template kept<typename Pass::storage>(S, 0);
  }
  template <int S, class Pass> static typename Pass::accumulate* before(Pass const& pass) {
    if constexpr (Pass::plan::head(S).saved[1].elements > 0)
      return pass.template kept<typename Pass::accumulate>(S, 1);
    else
      return nullptr;
  }
  template <int S, class Pass, class Work> static void fill(Pass const& pass, Work& work) {
    using L = typename Pass::plan::template Leaf<S>;
    constexpr Node n = Pass::plan::head(S);
    work.batch = pass.batch;
    work.times = n.input.positions();
    work.reverse = L::reverse;
    if constexpr (L::has_lengths) work.lengths = pass.integers(n.source[1 + L::initial_states]);
    work.weight = pass.parameter(n.parameter[0]);
    work.carried_from = L::carried_from;
    work.memory = pass.arenas.memory;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/move.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// A constant of its own: nvcc warns of constexpr calls in device code.
template <class Step> struct InKernelMove {
  static constexpr MoveMap map = Step::Leaf::map(Step::Facts::head.input).merged();
};

}  // namespace detail

/// Numbers at other places: slices, borders, copies, other extents. No work where the result is
/// stored as the source.
///
/// state    the layer's `map(Shape)`; its `fill` if it has one; `reshapes` if the result has the
///          numbers of the source in the order (C, S...)
template <> struct Kind<Role::move> {
  static constexpr KindFacts facts{.is_cheap = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.alias = L::map(n.input).is_identity();
    n.flattens = requires { requires L::reshapes; } && n.output.rank == 0;
  }

  template <class, int> using Op = op::Move;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    constexpr MoveMap map = Planned::template Leaf<S>::map(n.input).merged();
    op::Move::Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.map = map;
    work.fill = fill<typename Planned::template Leaf<S>>();
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Move>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    constexpr MoveMap map = Planned::template Leaf<S>::map(n.input);
    if constexpr (map.is_one_to_one()) {
      constexpr MoveMap inverse = map.inverse().merged();
      op::Move::Forward<typename Pass::precision> work;
      work.map = inverse;
      work.x = pass.template result_gradient<S>();
      work.y = pass.gradient(n.source[0]);
      finish<S>(pass, work);
    } else {
      op::Move::Backward<typename Pass::precision> work;
      work.map = map;
      work.d_y = pass.template result_gradient<S>();
      work.d_x = pass.gradient(n.source[0]);
      finish<S>(pass, work);
    }
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    constexpr MoveMap map = detail::InKernelMove<Step>::map;
    int const from = map.source(i);
    step.write(i, from < 0 ? T(fill<typename Step::Leaf>()) : T(step.template source<0>()[from]));
  }
  template <class Step> static void in_cells(Step const& step) {
    using T = typename Step::T;
    constexpr MoveMap map = detail::InKernelMove<Step>::map;
    for (int o = 0; o < Step::O; ++o) {
      int const from = map.source(o);
      if (from >= 0) {
        step.copy(step.template source<0>() + from * Step::cells, o);
        continue;
      }
      T* const y = step.result() + o * Step::cells;
      for (int v = 0; v < Step::cells; ++v) y[v] = T(fill<typename Step::Leaf>());
    }
    step.finish(0, Step::O);
  }

 private:
  template <class L> PHYLLO_FUNCTION static constexpr double fill() {
    if constexpr (requires { L::fill; })
      return L::fill;
    else
      return 0;
  }
  template <int S, class Pass, class Work> static void finish(Pass const& pass, Work& work) {
    work.batch = pass.batch;
    work.accumulate = Pass::plan::liveness.accumulates(S, 0);
    pass.template run<op::Move>(S, work);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

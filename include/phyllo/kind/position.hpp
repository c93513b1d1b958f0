// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/position.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Numbers that depend on the position: a table of parameters, sines, or angles of a rotation.
template <> struct Kind<Role::position> {
  static constexpr KindFacts facts{.is_cheap = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.flops = n.output.size();
    if constexpr (L::kind == op::PositionKind::learned) {
      n.parameter[0] = ParameterTensor::vector("weight", n.output.size(), Initial::normal);
      n.parameter[0].file[0] = n.output.positions();
      n.parameter[0].file[1] = n.output.channels;
      n.parameter[0].file_rank = 2;
    }
  }

  template <class Planned, int S> using Op = op::Position<Planned::template Leaf<S>::kind>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    auto work = fill<S>(pass);
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<Op<Planned, S>>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    auto const* const d_y = pass.template result_gradient<S>();
    if constexpr (n.parameter[0].count > 0) {
      typename Op<Planned, S>::template BackwardParameters<typename Pass::precision> sums;
      sums.batch = pass.batch;
      sums.size = n.output.size();
      sums.d_y = d_y;
      sums.d_table = pass.parameter_gradient(n.parameter[0]);
      pass.template run<Op<Planned, S>>(S, sums);
    }
    if (!pass.template wants<S>(0)) return;
    auto work = fill<S>(pass);
    work.x = d_y;
    work.y = pass.gradient(n.source[0]);
    work.backward = true;
    work.accumulate_y = Planned::liveness.accumulates(S, 0);
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <class Facts, int>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    auto const* const x = step.template source<0>();
    int const c = i % Step::O, t = i / Step::O;
    T value = T(x[i]);
    if constexpr (Step::Leaf::kind == op::PositionKind::learned) {
      value += T(step.parameters[Step::Facts::weight + i]);
    } else {
      T const log_base = T(Kokkos::log(double(Step::Leaf::base)));
      if constexpr (Step::Leaf::kind == op::PositionKind::sinusoidal) {
        T const angle = op::position_angle(log_base, t, c / 2, Step::O);
        value += c % 2 == 0 ? Kokkos::sin(angle) : Kokkos::cos(angle);
      } else {
        constexpr int part = Step::O / Step::Leaf::parts, width = part / Step::Leaf::heads;
        if (c < Step::O - part) {
          T const angle = op::position_angle(log_base, t, c % width / 2, width);
          T const sine = Kokkos::sin(angle);
          value = value * Kokkos::cos(angle) +
                  T(x[c % 2 == 0 ? i + 1 : i - 1]) * (c % 2 == 0 ? -sine : sine);
        }
      }
    }
    step.write(i, value);
  }

 private:
  template <int S, class Pass> static auto fill(Pass const& pass) {
    using Planned = typename Pass::plan;
    using L = typename Planned::template Leaf<S>;
    using A = typename Pass::accumulate;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.positions = n.output.positions();
    work.channels = work.width = n.output.channels;
    if constexpr (L::kind == op::PositionKind::learned)
      work.table = pass.parameter(n.parameter[0]);
    else
      work.log_base = A(Kokkos::log(double(L::base)));
    if constexpr (L::kind == op::PositionKind::rotary) {
      int const part = n.output.channels / L::parts;
      work.width = part / L::heads;
      work.rotated = n.output.channels - part;
    }
    return work;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

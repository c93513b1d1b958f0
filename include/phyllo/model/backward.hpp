// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/pass.hpp>
#include <phyllo/model/port_gradients.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Runs the steps of a training plan backwards. Gradients of parameters are written to their arena,
/// gradients of values to their slots. The gradients of the outputs are in their slots before.
///
/// `Finished` receives after each step the element of the gradient arena from which on all
/// gradients are complete, so that a bucket can be sent during the pass.
template <class Planned, class Precision, class Exec, class Communication, class Finished>
struct BackwardPass : Pass<Planned, Precision, Exec, Communication> {
  using Base = Pass<Planned, Precision, Exec, Communication>;
  using typename Base::accumulate;
  using typename Base::storage;

  bool wants_input_gradient;
  Finished& finished;

  void run_all() const {
    [this]<std::size_t... S>(std::index_sequence<S...>) {
      (this->template step<Planned::plan.size - 1 - int(S)>(), ...);
    }(std::make_index_sequence<Planned::plan.size>{});
  }

  /// Whether anybody reads the gradient of source i of step S.
  template <int S> bool wants(int i) const {
    Node const source = Planned::node(Planned::liveness.source(S, i));
    return source.type != ValueType::integer && (wants_input_gradient || !is_given(source));
  }

  /// Gradient at the result of a step into gradient at the input of its chain, in place.
  template <int S> void epilogue() const {
    using Chain = StepChain<Planned, S>;
    if constexpr (Chain::length > 0) {
      using Op = op::Pointwise<Chain>;
      storage* const d = this->gradient(Planned::result(S));
      typename Op::template Backward<Precision> work;
      work.batch = this->batch;
      work.size = Planned::head(S).output.size();
      work.saved = Planned::liveness.saves(S) ? this->saved(S) : this->value(Planned::result(S));
      work.d_y = work.d_x = d;
      work.random = this->template randomness<S>();
      this->template run<Op>(S, work);
    }
  }

  /// A slice of the gradient at the result of step S, `channels` from `from` on of `of`, to the
  /// gradient of its source i.
  template <int S> void copy_gradient(int i, int from, int channels, int of) const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(i)) return;
    op::Copy::Forward<Precision> work;
    work.rows = long(this->batch) * n.output.positions();
    work.channels = work.y_channels = channels;
    work.x_channels = of;
    work.from = from;
    work.x = this->gradient(Planned::result(S));
    work.y = this->gradient(n.source[i]);
    work.accumulate = Planned::liveness.accumulates(S, i);
    this->template run<op::Copy>(S, work);
  }

 private:
  template <int S> void step() const {
    constexpr Node head = Planned::head(S);
    constexpr bool reached = Planned::liveness.has_gradient[Planned::result(S)];
    if constexpr (reached) Kind<head.role>::template backward<S>(*this);
    if constexpr (head.parameter_count() > 0) {
      if constexpr (!reached) zero_parameter_gradients(head);
      finished(head.first_parameter());
    }
  }

  // No output depends on the layer.
  void zero_parameter_gradients(Node const& n) const {
    for (ParameterTensor const& t : n.parameter)
      if (t.count > 0)
        detail::launch_port(*this, t.count, ZeroGradients<accumulate>{this->parameter_gradient(t)});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

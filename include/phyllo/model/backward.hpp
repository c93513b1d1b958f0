// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/pass.hpp>
#include <phyllo/model/port_gradients.hpp>
#include <phyllo/op/add.hpp>
#include <phyllo/op/contraction.hpp>
#include <phyllo/op/normalization.hpp>
#include <phyllo/op/pointwise.hpp>
#include <phyllo/op/pooling.hpp>
#include <phyllo/op/softmax.hpp>
#include <phyllo/op/transpose.hpp>
#include <phyllo/op/upsample.hpp>

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

 private:
  template <int S> void step() const {
    constexpr Node head = Planned::head(S);
    if constexpr (Planned::liveness.has_gradient[Planned::result(S)]) {
      if constexpr (head.role == Role::contraction)
        contraction<S>();
      else if constexpr (head.role == Role::normalization)
        normalization<S>();
      else if constexpr (head.role == Role::pointwise)
        pointwise<S>();
      else if constexpr (head.role == Role::add)
        add<S>();
      else if constexpr (head.role == Role::pooling)
        pooling<S>();
      else if constexpr (head.role == Role::resample)
        resample<S>();
      else if constexpr (head.role == Role::softmax)
        softmax<S>();
      else if constexpr (head.role == Role::reshape)
        reshape<S>();
      else
        concatenation<S>();
    }
    if constexpr (head.weight >= 0) {
      if constexpr (!Planned::liveness.has_gradient[Planned::result(S)])
        zero_parameter_gradients(head);
      finished(head.weight);
    }
  }

  // Whether anybody reads the gradient of source i of step S.
  template <int S> bool wants(int i) const {
    return wants_input_gradient ||
           Planned::node(Planned::liveness.source(S, i)).role != Role::input;
  }

  // No output depends on the layer. Its bias follows its weight in the arena.
  void zero_parameter_gradients(Node const& n) const {
    int const count =
        (n.bias < 0 ? n.weight : n.bias) + (n.bias < 0 ? n.weight_count : n.bias_count) - n.weight;
    detail::launch_port(*this, count,
                        ZeroGradients<accumulate>{this->parameter_gradient(n.weight)});
  }

  // Gradient at the result of a step into gradient at the input of its chain, in place.
  template <int S> void epilogue() const {
    using Chain = StepChain<Planned, S>;
    if constexpr (Chain::length > 0) {
      using Op = op::Pointwise<Chain>;
      storage* const d = this->gradient(Planned::result(S));
      storage const* const kept =
          Planned::liveness.saves(S) ? this->saved(S) : this->value(Planned::result(S));
      this->template run<Op>(S, typename Op::template Backward<Precision>{
                                    this->batch, Planned::head(S).output.size(), kept, d, d, false,
                                    this->template randomness<S>()});
    }
  }

  template <int S> void contraction() const {
    using Linear = op::Contraction<op::Chain<>>;  // the epilogue is no business of the gradients
    constexpr Node n = Planned::head(S);
    epilogue<S>();
    storage const* const d_z = this->gradient(Planned::result(S));
    this->template run<Linear>(
        S, Linear::BackwardParameters<Precision>{
               this->batch, n.input, n.output, n.window, this->value(n.source[0]), d_z,
               this->parameter_gradient(n.weight), this->parameter_gradient(n.bias),
               this->arenas.partial, this->arenas.memory});
    if (wants<S>(0))
      this->template run<Linear>(S, Linear::BackwardInput<Precision>{
                                        this->batch, n.input, n.output, n.window, d_z,
                                        this->parameter(n.weight), this->gradient(n.source[0]),
                                        Planned::liveness.accumulates(S, 0), this->arenas.memory});
  }

  template <int S> void normalization() const {
    using Op = op::Normalization<StepChain<Planned, S>>;
    constexpr Node n = Planned::head(S);
    auto const s = this->statistics(n);
    typename Op::template BackwardSums<Precision> sums;
    sums.batch = this->batch;
    sums.positions = n.input.positions();
    sums.channels = n.input.channels;
    sums.x = this->value(n.source[0]);
    sums.d_y = this->gradient(Planned::result(S));
    sums.scale = this->parameter(n.weight);
    sums.shift = this->parameter(n.bias);
    sums.mean = s.mean;
    sums.inverse_deviation = s.inverse_deviation;
    sums.partial = this->arenas.partial;
    sums.sums = s.gradient_sums;
    sums.d_scale = this->parameter_gradient(n.weight);
    sums.d_shift = this->parameter_gradient(n.bias);
    sums.random = this->template randomness<S>();
    constexpr bool adds = Planned::step(S).kind == StepKind::normalization_add;
    if constexpr (adds) {
      if constexpr (Planned::liveness.rereads_result(S))
        sums.y = this->value(Planned::result(S));
      else if constexpr (Planned::liveness.rereads_source(S, 1))
        sums.added = this->value(Planned::liveness.source(S, 1));
    }
    this->template run<Op>(S, sums);
    if (n.global_statistics)
      this->communication.sum(this->exec, s.gradient_sums, 2L * n.input.channels);
    bool const wants_added = adds && wants<S>(int(adds));
    if (!wants<S>(0) && !wants_added) return;
    typename Op::template Backward<Precision> work;
    work.batch = this->batch;
    work.positions = n.input.positions();
    work.channels = n.input.channels;
    work.x = sums.x;
    work.d_y = sums.d_y;
    work.scale = sums.scale;
    work.shift = sums.shift;
    work.mean = s.mean;
    work.inverse_deviation = s.inverse_deviation;
    work.sums = s.gradient_sums;
    work.mean_sums = s.mean_sums;
    work.added = sums.added;
    work.y = sums.y;
    if (wants<S>(0)) work.d_x = this->gradient(n.source[0]);
    work.accumulate_gradient = Planned::liveness.accumulates(S, 0);
    if constexpr (adds) {
      if (wants_added) work.d_added = this->gradient(Planned::liveness.source(S, 1));
      work.accumulate_added = Planned::liveness.accumulates(S, 1);
    }
    work.random = sums.random;
    this->template run<Op>(S, work);
  }

  template <int S> void pointwise() const {
    using Op = op::Pointwise<StepChain<Planned, S>>;
    constexpr Node n = Planned::head(S);
    if (!wants<S>(0)) return;
    storage const* const kept =
        Planned::liveness.chain_derivative(Planned::step(S)) == Derivative::output
            ? this->value(Planned::result(S))
            : this->value(n.source[0]);
    this->template run<Op>(
        S, typename Op::template Backward<Precision>{
               this->batch, n.input.size(), kept, this->gradient(Planned::result(S)),
               this->gradient(n.source[0]), Planned::liveness.accumulates(S, 0),
               this->template randomness<S>()});
  }

  // A slice of the gradient at the result of step S to the gradient of its source i.
  template <int S> void copy(int i, int from, int channels, int of) const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(i)) return;
    this->template run<op::Copy>(
        S, op::Copy::Forward<Precision>{long(this->batch) * n.output.positions(), channels, of,
                                        from, channels, 0, this->gradient(Planned::result(S)),
                                        this->gradient(n.source[i]),
                                        Planned::liveness.accumulates(S, i)});
  }

  template <int S> void add() const {
    epilogue<S>();
    int const channels = Planned::head(S).output.channels;
    for (int i = 0; i < 2; ++i) copy<S>(i, 0, channels, channels);
  }

  template <int S> void concatenation() const {
    constexpr Node n = Planned::head(S);
    int from = 0;
    for (int i = 0; i < n.sources; ++i) {
      int const channels = Planned::node(n.source[i]).output.channels;
      copy<S>(i, from, channels, n.output.channels);
      from += channels;
    }
  }

  template <int S> void pooling() const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(0)) return;
    using Op =
        op::Pooling<At<typename Planned::leaves, Planned::plan.head(Planned::step(S))>::kind>;
    this->template run<Op>(S,
                           typename Op::template Backward<Precision>{
                               this->batch, n.input, n.output, n.window, this->value(n.source[0]),
                               this->gradient(Planned::result(S)), this->gradient(n.source[0]),
                               Planned::liveness.accumulates(S, 0)});
  }

  template <int S> void resample() const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(0)) return;
    this->template run<op::Upsample>(
        S, op::Upsample::Backward<Precision>{
               this->batch, n.input, n.output, this->gradient(Planned::result(S)),
               this->gradient(n.source[0]), Planned::liveness.accumulates(S, 0)});
  }

  template <int S> void softmax() const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(0)) return;
    this->template run<op::Softmax>(
        S, op::Softmax::Backward<Precision>{
               long(this->batch) * n.input.positions(), n.input.channels,
               this->value(Planned::result(S)), this->gradient(Planned::result(S)),
               this->gradient(n.source[0]), Planned::liveness.accumulates(S, 0)});
  }

  template <int S> void reshape() const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(0)) return;
    this->template run<op::Transpose>(
        S, op::Transpose::Forward<Precision>{this->batch, n.input.channels, n.input.positions(),
                                             this->gradient(Planned::result(S)),
                                             this->gradient(n.source[0]),
                                             Planned::liveness.accumulates(S, 0)});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

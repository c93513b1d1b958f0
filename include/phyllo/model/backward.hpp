// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/forward.hpp>
#include <phyllo/model/port_gradients.hpp>
#include <phyllo/model/segment_pass.hpp>
#include <phyllo/model/step_op.hpp>
#include <phyllo/model/work_bytes.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/pointwise.hpp>

#include <algorithm>

namespace phyllo::inline PHYLLO_ISA {

/// Runs the steps of a training plan backwards. Gradients of parameters are written to their arena,
/// gradients of values to their slots. The gradients of the outputs are in their slots before.
///
/// `Finished` receives after each step the element of the gradient arena from which on all
/// gradients are complete, so that a bucket can be sent during the pass.
template <class Planned, class Precision, class Exec, class Communication, class Finished>
struct BackwardPass : SegmentPass<Planned, Precision, Exec, Communication> {
  using Base = SegmentPass<Planned, Precision, Exec, Communication>;
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

  /// Gradient at the result of step S, from the caller or from later steps.
  template <int S> storage const* result_gradient() const {
    storage const* const given = this->given_gradient(Planned::result(S));
    return given != nullptr ? given : this->gradient(Planned::result(S));
  }

  /// Gradient at the input of a step's chain, in the slot of that at its result.
  template <int S> storage const* epilogue() const {
    using Chain = StepChain<Planned, S>;
    if constexpr (Chain::length == 0) {
      return result_gradient<S>();
    } else {
      using Op = op::Pointwise<Chain>;
      storage* const d = this->gradient(Planned::result(S));
      typename Op::template Backward<Precision> work;
      work.batch = this->batch;
      work.size = Planned::head(S).output.size();
      work.saved = Planned::liveness.saves(S) ? this->saved(S) : this->value(Planned::result(S));
      work.d_y = result_gradient<S>();
      work.d_x = d;
      work.random = this->template randomness<S>();
      this->template run<Op>(S, work);
      return d;
    }
  }

  /// Before a part of the channels of the gradient of source i of step S is written, or all of
  /// them: whether to add to what is there. A gradient without any part so far begins as zero.
  template <int S> bool begin_gradient(int i, bool is_whole) const {
    if (is_whole || Planned::liveness.accumulates(S, i)) return Planned::liveness.accumulates(S, i);
    int const v = Planned::liveness.source(S, i);
    detail::launch_port(*this, long(this->batch) * Planned::node(v).output.size(),
                        ZeroGradients<storage>{this->gradient(v)});
    return true;
  }

  /// A slice of the gradient d_y of step S, `channels` from `from` on of `of`, to the gradient of
  /// its source i.
  template <int S>
  void copy_gradient(int i, storage const* d_y, int from, int channels, int of) const {
    constexpr Node n = Planned::head(S);
    if (!wants<S>(i)) return;
    op::Copy::Forward<Precision> work;
    work.rows = long(this->batch) * n.output.positions();
    work.channels = work.y_channels = channels;
    work.x_channels = of;
    work.from = from;
    work.x = d_y;
    work.y = this->gradient(n.source[i]);
    work.accumulate = Planned::liveness.accumulates(S, i);
    this->template run<op::Copy>(S, work);
  }

 private:
  template <int S> void step() const {
    constexpr int first_again = Planned::liveness.first_again(S);
    if constexpr (first_again <= S)
      run_again<S, first_again>(std::make_index_sequence<S - first_again + 1>{});
    constexpr bool reached = Planned::liveness.has_gradient[Planned::result(S)];
    if constexpr (reached && Planned::step(S).kind == StepKind::segment)
      segment<S>();
    else if constexpr (reached)
      Kind<Planned::head(S).role>::template backward<S>(*this);
    constexpr ParameterRange parameters = step_parameters<Planned, S>;
    if constexpr (parameters.count > 0) {
      // No output depends on the step.
      if constexpr (!reached)
        detail::launch_port(*this, parameters.count,
                            ZeroGradients<accumulate>{this->arenas.gradients + parameters.first});
      finished(parameters.first);
    }
  }

  // Those of the steps from First on that run forward again before step S runs backwards.
  template <int S, int First, std::size_t... I> void run_again(std::index_sequence<I...>) const {
    ForwardPass<Planned, Precision, Exec, Communication> const forward{
        static_cast<Base const&>(*this)};
    (
        [&] {
          if constexpr (Planned::liveness.runs_again_before(First + int(I), S))
            forward.template step<First + int(I)>();
        }(),
        ...);
  }

  template <int S> void segment() const {
    using Op = StepBackwardOp<Planned, S>;
    using All = typename Base::template Kernels<Op>;
    constexpr ParameterRange parameters = step_parameters<Planned, S>;
    typename Op::template Run<Precision> work;
    this->template fill_segment<S>(work.forward);
    if constexpr (kernel_traits<All>.sample_bytes > 0)
      work.forward.memory.first = this->arenas.samples;
    work.d_y = result_gradient<S>();
    if constexpr (constexpr int next = Planned::liveness.normalized_by(S); next >= 0)
      Kind<Planned::head(next).role>::template fill_gradient<next>(*this, work);
    if (wants<S>(0)) work.d_x = this->gradient(Planned::head(S).source[0]);
    work.accumulate_gradient = Planned::liveness.accumulates(S, 0);
    work.parameter_first = parameters.first;
    work.parameter_count = parameters.count;
    work.partial = this->arenas.partial;
    work.gradients = this->arenas.gradients;
    // The caller's instance may have more threads than the one that the model was built with.
    work.rows = std::min(workspace_rows<Op, All>(this->exec, Exec::shards),
                         int(this->arenas.partial_count / parameters.count));
    if constexpr (kernel_traits<All>.takes_views)
      All::run(this->exec, this->labels[std::size_t(S)], work, this->template segment_source<S>());
    else
      this->template run<Op>(S, work);
    if constexpr (Planned::begins_with_batch_normalization(S))
      Kind<Planned::head(S).role>::template behind_segment<S>(*this);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

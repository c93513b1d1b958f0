// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/segment_backward.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// Compile-time extents of a segment. One work item holds a sample's values in its own memory, each
/// layer's input behind the one before.
template <class Segment> struct SegmentExtents;
template <class... D> struct SegmentExtents<op::Segment<D...>> {
  static constexpr int layers = sizeof...(D);
  static constexpr int inputs(int layer) {
    constexpr int in[] = {D::inputs...};
    return in[layer];
  }
  static constexpr int outputs(int layer) {
    constexpr int out[] = {D::outputs...};
    return out[layer];
  }
  static constexpr int first_inputs = inputs(0);
  static constexpr int last_outputs = outputs(layers - 1);
  // Offset of the input of a layer; of layer `layers` the output.
  static constexpr int offset(int layer) {
    int sum = 0;
    for (int l = 0; l < layer; ++l) sum += inputs(l);
    return sum;
  }
  static constexpr int size = offset(layers) + last_outputs;
  // The same as constants, which device code may read.
  template <int Layer> static constexpr int at = offset(Layer);
};

/// y = chain(W x + b) of one sample; `saved` (or nullptr) takes the chain's input.
template <class Dense, int Layer, class P, class Work>
PHYLLO_FUNCTION void dense_forward(Work const& work, int n, typename P::storage const* x,
                                   typename P::storage* y, typename P::storage* saved) {
  using A = typename P::accumulate;
  using S = typename P::storage;
  S const* const weight = work.parameters + work.weight[Layer];  // (in, out)
  A sum[Dense::outputs];
  for (int o = 0; o < Dense::outputs; ++o)
    sum[o] = Dense::bias ? A(work.parameters[work.bias[Layer] + o]) : A(0);
  for (int i = 0; i < Dense::inputs; ++i) {
    A const value = A(x[i]);
    for (int o = 0; o < Dense::outputs; ++o) sum[o] += value * A(weight[i * Dense::outputs + o]);
  }
  Randomness random = work.random;
  random.position += work.position[Layer];
  for (int o = 0; o < Dense::outputs; ++o) {
    if (saved != nullptr) saved[o] = S(sum[o]);
    y[o] = S(Dense::chain::value(sum[o], random.element(n, o)));
  }
}

template <class Segment, class P> struct segment_forward;
template <class... D, class P> struct segment_forward<op::Segment<D...>, P> {
  using S = typename P::storage;
  using X = SegmentExtents<op::Segment<D...>>;
  typename op::Segment<D...>::template Forward<P> work;

  PHYLLO_FUNCTION void operator()(long n) const { all(int(n), std::index_sequence_for<D...>{}); }

  template <std::size_t... L> PHYLLO_FUNCTION void all(int n, std::index_sequence<L...>) const {
    S value[X::size];
    for (int i = 0; i < X::first_inputs; ++i) value[i] = work.x[long(n) * X::first_inputs + i];
    (dense_forward<D, int(L), P>(work, n, value + X::template at<int(L)>,
                                 value + X::template at<int(L) + 1>, nullptr),
     ...);
    constexpr int outputs = X::last_outputs;
    for (int o = 0; o < outputs; ++o)
      work.y[long(n) * outputs + o] = value[X::template at<X::layers> + o];
  }
};

/// One work item: one block of consecutive samples, its parameter gradients in its own row. Op:
/// WholeStep, whose loss has the gradient of the result, or SegmentBackward, whose caller has it.
template <class Op, class P, class Segment = typename Op::segment> struct backward_block;
template <class Op, class P, class... D> struct backward_block<Op, P, op::Segment<D...>> {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using X = SegmentExtents<op::Segment<D...>>;
  typename Op::template Run<P> work;

  PHYLLO_FUNCTION void operator()(long b) const {
    A* const gradients = work.partial + b * work.parameter_count;
    for (int i = 0; i < work.parameter_count; ++i) gradients[i] = 0;
    long const batch = work.forward.batch;
    for (long n = batch * b / Op::blocks; n < batch * (b + 1) / Op::blocks; ++n)
      sample(int(n), gradients, std::index_sequence_for<D...>{});
  }

  template <std::size_t... I>
  PHYLLO_FUNCTION void sample(int n, A* gradients, std::index_sequence<I...>) const {
    constexpr int last = X::layers - 1;
    S value[X::size], saved[X::size], d[X::size];
    for (int i = 0; i < X::first_inputs; ++i)
      value[i] = work.forward.x[long(n) * X::first_inputs + i];
    (dense_forward<D, int(I), P>(work.forward, n, value + X::template at<int(I)>,
                                 value + X::template at<int(I) + 1>,
                                 saved + X::template at<int(I) + 1>),
     ...);
    result_gradient(n, value + X::template at<last + 1>, d + X::template at<last + 1>);
    (backward<At<TypeList<D...>, last - I>, last - int(I)>(n, value, saved, d, gradients), ...);
  }

  PHYLLO_FUNCTION void result_gradient(int n, [[maybe_unused]] S const* y, S* d) const {
    constexpr int outputs = X::last_outputs;
    if constexpr (op::has_loss<Op>) {
      using L = typename Op::loss;
      A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
      op::TargetRow<L, A> const target(work.targets, n, Shape{outputs}, 0);
      op::GradientRow<S, A> const gradient{d, work.weight * scale, false};
      op::LossRow<L, S, A, op::SerialLoops, op::TargetRow<L, A>> const row({}, outputs, y, target,
                                                                           gradient);
      work.values[n] = work.weight * row.evaluate(work.held_loss());
      if (work.correct != nullptr) work.correct[n] = row.correct();
    } else {
      for (int o = 0; o < outputs; ++o) d[o] = work.d_y[long(n) * outputs + o];
    }
  }

  /// Of an offset in the arena: the same in a row of the workspace.
  PHYLLO_FUNCTION int in_row(int offset) const {
    if constexpr (op::has_loss<Op>)
      return offset;
    else
      return offset - work.parameter_first;
  }

  template <class Dense, int Layer>
  PHYLLO_FUNCTION void backward(int n, S const* value, S const* saved, S* d, A* gradients) const {
    S* const d_y = d + X::template at<Layer + 1>;
    S* const d_x = d + X::template at<Layer>;
    S const* const x = value + X::template at<Layer>;
    if constexpr (Dense::chain::length > 0) {
      S const* const kept = (Dense::chain::derivative_of == Derivative::output ? value : saved) +
                            X::template at<Layer + 1>;
      Randomness random = work.forward.random;
      random.position += work.forward.position[Layer];
      for (int o = 0; o < Dense::outputs; ++o)
        d_y[o] = S(A(d_y[o]) * Dense::chain::derivative(A(kept[o]), random.element(n, o)));
    }
    if constexpr (Dense::bias)
      for (int o = 0; o < Dense::outputs; ++o)
        gradients[in_row(work.forward.bias[Layer]) + o] += A(d_y[o]);
    A* const d_weight = gradients + in_row(work.forward.weight[Layer]);            // (in, out)
    S const* const weight = work.forward.parameters + work.forward.weight[Layer];  // (in, out)
    for (int i = 0; i < Dense::inputs; ++i) {
      A const value_i = A(x[i]);
      A sum = 0;
      for (int o = 0; o < Dense::outputs; ++o) {
        d_weight[i * Dense::outputs + o] += value_i * A(d_y[o]);
        sum += A(d_y[o]) * A(weight[i * Dense::outputs + o]);
      }
      if constexpr (Layer > 0)
        d_x[i] = S(sum);
      else
        input_gradient(long(n) * X::first_inputs + i, sum);
    }
  }
  PHYLLO_FUNCTION void input_gradient([[maybe_unused]] long at, [[maybe_unused]] A sum) const {
    if constexpr (!op::has_loss<Op>)
      if (work.d_x != nullptr)
        work.d_x[at] = S(work.accumulate_gradient ? A(work.d_x[at]) + sum : sum);
  }
};

/// One work item: one parameter, the rows of the blocks added as a binary tree.
template <class A, int Blocks> struct sum_blocks {
  static_assert((Blocks & (Blocks - 1)) == 0, "the tree is complete");
  A const* partial = nullptr;  // (blocks, count)
  A* gradients = nullptr;      // (count)
  int count = 0;

  PHYLLO_FUNCTION void operator()(long i) const {
    A sum[Blocks];
    for (int b = 0; b < Blocks; ++b) sum[b] = partial[long(b) * count + i];
    for (int width = Blocks / 2; width > 0; width /= 2)
      for (int b = 0; b < width; ++b) sum[b] += sum[b + width];
    gradients[i] = sum[0];
  }
};

template <class... D, class P>
  requires(op::is_dense<D> && ...)
struct Kernels<op::Segment<D...>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Segment<D...>::template Forward<P> const& work) {
    launch(exec, label, work.batch, segment_forward<op::Segment<D...>, P>{work});
  }
};

template <class... D, class L, class P>
  requires(op::is_dense<D> && ...)
struct Kernels<op::WholeStep<op::Segment<D...>, L>, P> {
  using Op = op::WholeStep<op::Segment<D...>, L>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work) {
    launch(exec, label, Op::blocks, backward_block<Op, P>{work});
    launch(exec, label, work.parameter_count,
           sum_blocks<typename P::accumulate, Op::blocks>{work.partial, work.gradients,
                                                          work.parameter_count});
  }
};

template <class... D, class P>
  requires(op::is_dense<D> && ...)
struct Kernels<op::SegmentBackward<op::Segment<D...>>, P> {
  using Op = op::SegmentBackward<op::Segment<D...>>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work) {
    launch(exec, label, Op::blocks, backward_block<Op, P>{work});
    launch(exec, label, work.parameter_count,
           sum_blocks<typename P::accumulate, Op::blocks>{
               work.partial, work.gradients + work.parameter_first, work.parameter_count});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

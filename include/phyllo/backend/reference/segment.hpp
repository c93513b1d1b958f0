// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/backend/reference/row_norm_sample.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/segment.hpp>

#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

/// One sample through the layers of a segment, values between layers rounded to storage.
template <class Segment, class P> struct SegmentSample;
template <class... D, class P> struct SegmentSample<op::Segment<D...>, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Work = typename op::Segment<D...>::template Forward<P>;

  Work const& work;
  int n;
  std::vector<std::vector<S>> value;  // of layer l: its input; the last: the output
  std::vector<std::vector<S>> saved;  // of layer l: its chain's input

  SegmentSample(Work const& w, int sample, int inputs) : work(w), n(sample) {
    value.emplace_back(work.x + long(n) * inputs, work.x + long(n + 1) * inputs);
    int l = 0;
    (layer<D>(l++), ...);
  }

  Element element(int l, int o) const {
    Randomness random = work.random;
    random.position += work.position[l];
    return random.element(n, o);
  }

  template <class Layer> void layer(int l) {
    constexpr auto outputs = static_cast<std::size_t>(Layer::outputs);
    std::vector<S> z(outputs), y(outputs);
    std::vector<A> const sums = sums_of<Layer>(l);
    for (int o = 0; o < Layer::outputs; ++o) {
      A const sum = sums[std::size_t(o)];
      z[std::size_t(o)] = S(sum);
      y[std::size_t(o)] = S(Layer::chain::value(sum, element(l, o)));
    }
    saved.push_back(z);
    value.push_back(y);
  }

 private:
  // The chain's input, unrounded.
  template <class Layer> std::vector<A> sums_of(int l) const {
    auto const& x = value[std::size_t(l)];
    std::vector<A> sums;
    if constexpr (op::is_row_norm<Layer>) {
      RowNormSample<Layer, P> const row(work, l, x);
      for (int o = 0; o < Layer::outputs; ++o) sums.push_back(row.z(o));
    } else {
      for (int o = 0; o < Layer::outputs; ++o) {
        A sum = Layer::bias ? A(work.parameters[work.bias[l] + o]) : A(0);
        for (int i = 0; i < Layer::inputs; ++i)
          sum += A(x[std::size_t(i)]) * A(work.parameters[work.weight[l] + i * Layer::outputs + o]);
        sums.push_back(sum);
      }
    }
    return sums;
  }
};

template <class... D, class P>
  requires((op::is_dense<D> || op::is_row_norm<D>) && ...)
struct Kernels<op::Segment<D...>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename op::Segment<D...>::template Forward<P> const& work) {
    wait(exec);
    constexpr int in[] = {D::inputs...};
    constexpr int out[] = {D::outputs...};
    constexpr int outputs = out[sizeof...(D) - 1];
    for (int n = 0; n < work.batch; ++n) {
      SegmentSample<op::Segment<D...>, P> const sample(work, n, in[0]);
      for (int o = 0; o < outputs; ++o)
        work.y[long(n) * outputs + o] = sample.value.back()[std::size_t(o)];
    }
  }
};

template <class... D, class L, class P>
  requires((op::is_dense<D> || op::is_row_norm<D>) && ...)
struct Kernels<op::WholeStep<op::Segment<D...>, L>, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Work = typename op::WholeStep<op::Segment<D...>, L>::template Run<P>;
  using Sample = SegmentSample<op::Segment<D...>, P>;

  // Layer l backwards: d is the gradient of its output, then of its input.
  template <class Layer>
  static void layer(Work const& work, Sample const& sample, int l, std::vector<S>& d) {
    for (int o = 0; o < Layer::outputs; ++o) {
      auto const i = std::size_t(o);
      S const kept = Layer::chain::derivative_of == Derivative::output
                         ? sample.value[std::size_t(l) + 1][i]
                         : sample.saved[std::size_t(l)][i];
      if (Layer::chain::length > 0)
        d[i] = S(A(d[i]) * Layer::chain::derivative(A(kept), sample.element(l, o)));
    }
    if constexpr (op::is_row_norm<Layer>)
      RowNormSample<Layer, P>(work.forward, l, sample.value[std::size_t(l)])
          .backward(d, Layer::scale ? work.gradients + work.forward.weight[l] : nullptr,
                    Layer::bias ? work.gradients + work.forward.bias[l] : nullptr);
    else
      dense<Layer>(work, sample, l, d);
  }
  // d is the gradient of the chain's input, then of the layer's.
  template <class Dense>
  static void dense(Work const& work, Sample const& sample, int l, std::vector<S>& d) {
    auto const& x = sample.value[std::size_t(l)];
    std::vector<S> d_x(static_cast<std::size_t>(Dense::inputs));
    for (int o = 0; o < Dense::outputs && Dense::bias; ++o)
      work.gradients[work.forward.bias[l] + o] += A(d[std::size_t(o)]);
    for (int i = 0; i < Dense::inputs; ++i) {
      A sum = 0;
      for (int o = 0; o < Dense::outputs; ++o) {
        int const at = work.forward.weight[l] + i * Dense::outputs + o;
        work.gradients[at] += A(x[std::size_t(i)]) * A(d[std::size_t(o)]);
        sum += A(d[std::size_t(o)]) * A(work.forward.parameters[at]);
      }
      d_x[std::size_t(i)] = S(sum);
    }
    d = d_x;
  }

  template <class Space> static void run(Space const& exec, std::string const&, Work const& work) {
    wait(exec);
    constexpr int in[] = {D::inputs...};
    constexpr int out[] = {D::outputs...};
    constexpr int outputs = out[sizeof...(D) - 1];
    Shape const shape{outputs};
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    int l = 0;
    ((zero<D>(work, l++)), ...);
    for (int n = 0; n < work.forward.batch; ++n) {
      Sample const sample(work.forward, n, in[0]);
      std::vector<S> d(std::size_t(outputs), S(0.0f));
      op::TargetRow<L, A> const target(work.targets, n, shape, 0);
      op::GradientRow<S, A> const gradient{d.data(), work.weight * scale, false};
      op::LossRow<L, S, A, op::SerialLoops, op::TargetRow<L, A>> const row(
          {}, outputs, sample.value.back().data(), target, gradient);
      work.values[n] = work.weight * row.evaluate(work.held_loss());
      if (work.correct != nullptr) work.correct[n] = row.correct();
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        constexpr int last = int(sizeof...(D)) - 1;
        (layer<At<TypeList<D...>, last - I>>(work, sample, last - int(I), d), ...);
      }(std::index_sequence_for<D...>{});
    }
  }

  template <class Layer> static void zero(Work const& work, int l) {
    int weights = Layer::inputs * Layer::outputs;
    if constexpr (op::is_row_norm<Layer>) weights = Layer::scale ? Layer::outputs : 0;
    for (int i = 0; i < weights; ++i) work.gradients[work.forward.weight[l] + i] = 0;
    for (int o = 0; o < Layer::outputs && Layer::bias; ++o)
      work.gradients[work.forward.bias[l] + o] = 0;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

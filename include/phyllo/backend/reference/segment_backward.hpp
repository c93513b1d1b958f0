// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/contraction.hpp>
#include <phyllo/backend/reference/movement.hpp>
#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/backend/reference/pooling.hpp>
#include <phyllo/backend/reference/row.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/op/segment_backward.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

/// A batch through the layers of a segment and back, by the ops of single layers; values and
/// gradients between layers are rounded to storage.
template <class Segment, class P, class Space> struct SegmentPass;
template <class... D, class P, class Space> struct SegmentPass<op::Segment<D...>, P, Space> {
  using S = typename P::storage;
  using A = typename P::accumulate;
  using Work = typename op::SegmentBackward<op::Segment<D...>>::template Run<P>;
  static constexpr int layers = sizeof...(D);
  template <int L> using Layer = At<TypeList<D...>, std::size_t(L)>;
  template <int L> static constexpr bool is_pooling = requires { Layer<L>::kind; };
  template <int L> static constexpr Shape input() {
    if constexpr (op::is_on_rows<Layer<L>>)
      return Shape{Layer<L>::inputs};
    else
      return Layer<L>::input;
  }
  template <int L> static constexpr Shape output() {
    if constexpr (op::is_on_rows<Layer<L>>)
      return Shape{Layer<L>::outputs};
    else
      return Layer<L>::output;
  }
  template <int L> static constexpr Window window() {
    if constexpr (op::is_on_rows<Layer<L>>)
      return {};
    else
      return Layer<L>::window;
  }

  Space const& exec;
  Work const& work;
  int const batch;
  std::vector<S> value[layers + 1];     // of layer l: its input; the last: the result
  std::vector<S> saved[layers];         // of layer l: its chain's input
  std::vector<A> statistics[layers];    // of a row normalisation
  std::vector<S> gradient[layers + 1];  // of value l; of value 0: work.d_x
  bool is_written[layers + 1] = {};     // whether gradient l has contributions already

  SegmentPass(Space const& e, Work const& w) : exec(e), work(w), batch(w.forward.batch) {}

  void run() {
    value[0].assign(work.forward.x, work.forward.x + long(batch) * input<0>().size());
    auto const count = std::size_t(batch) * std::size_t(output<layers - 1>().size());
    gradient[layers].assign(work.d_y, work.d_y + count);
    is_written[0] = work.accumulate_gradient;
    [&]<int... L>(std::integer_sequence<int, L...>) {
      (forward<L>(), ...);
      (backward<layers - 1 - L>(), ...);
    }(std::make_integer_sequence<int, layers>{});
  }

 private:
  template <class Op, class W> void launch(W const& w) const {
    Kernels<Op, P>::run(exec, "segment", w);
  }
  template <int L> Randomness randomness() const {
    Randomness random = work.forward.random;
    random.position += work.forward.position[L];
    return random;
  }
  S const* weight(int l) const { return work.forward.parameters + work.forward.weight[l]; }

  template <int L> void forward() {
    using Chain = typename Layer<L>::chain;
    auto const count = std::size_t(batch) * std::size_t(output<L>().size());
    value[L + 1].resize(count);
    saved[L].resize(count);
    if constexpr (is_pooling<L>) {
      using Op = op::Pooling<Layer<L>::kind>;
      launch<Op>(typename Op::template Forward<P>{batch, input<L>(), output<L>(), window<L>(),
                                                  value[L].data(), saved[L].data()});
      using After = op::Pointwise<Chain>;
      launch<After>(typename After::template Forward<P>{batch, output<L>().size(), saved[L].data(),
                                                        value[L + 1].data(), randomness<L>()});
    } else if constexpr (op::is_sum<Layer<L>>) {
      using Op = op::Add<Chain>;
      launch<Op>(typename Op::template Forward<P>{
          batch, output<L>().size(), value[L].data(), value[Layer<L>::earlier].data(),
          value[L + 1].data(), saved[L].data(), randomness<L>()});
    } else if constexpr (op::is_row_norm<Layer<L>>) {
      statistics[L].resize(2 * std::size_t(batch));
      row_norm<L, Chain>(value[L + 1].data());
      row_norm<L, op::Chain<>>(saved[L].data());
    } else {
      typename op::Contraction<Chain>::template Forward<P> w;
      w.batch = batch;
      w.input = input<L>();
      w.output = output<L>();
      w.window = window<L>();
      w.x = value[L].data();
      w.weight = weight(L);
      w.bias = Layer<L>::bias ? work.forward.parameters + work.forward.bias[L] : nullptr;
      w.y = value[L + 1].data();
      w.saved = saved[L].data();
      w.random = randomness<L>();
      launch<op::Contraction<Chain>>(w);
    }
  }

  template <int L, class Chain> void row_norm(S* y) {
    typename op::RowNormalization<Chain>::template Forward<P> w;
    describe_row_norm<L>(w);
    w.epsilon = A(work.forward.statistics[L].epsilon);
    w.y = y;
    w.statistics = statistics[L].data();
    w.random = randomness<L>();
    launch<op::RowNormalization<Chain>>(w);
  }
  template <int L, class Work> void describe_row_norm(Work& w) const {
    w.batch = batch;
    w.positions = 1;
    w.channels = Layer<L>::inputs;
    w.centered = Layer<L>::centered;
    w.x = value[L].data();
    if (Layer<L>::scale) w.scale = weight(L);
    if (Layer<L>::bias) w.shift = work.forward.parameters + work.forward.bias[L];
  }

  /// Where contributions to the gradient of value L are added or, the first one, written.
  template <int L> S* gradient_of() {
    if constexpr (L == 0) {
      return work.d_x;
    } else {
      gradient[L].resize(value[L].size());
      return gradient[L].data();
    }
  }

  template <int L> void backward() {
    using Chain = typename Layer<L>::chain;
    S* const d_z = gradient[L + 1].data();  // first of the chain's output, then of its input
    if constexpr (Chain::length > 0) {
      S const* const kept =
          Chain::derivative_of == Derivative::output ? value[L + 1].data() : saved[L].data();
      using After = op::Pointwise<Chain>;
      launch<After>(typename After::template Backward<P>{batch, output<L>().size(), kept, d_z, d_z,
                                                         false, randomness<L>()});
    }
    if constexpr (op::is_sum<Layer<L>>) {
      pass_on<L, L>(d_z);
      pass_on<L, Layer<L>::earlier>(d_z);
    } else if constexpr (is_pooling<L>) {
      pooling<L>(d_z, gradient_of<L>());
    } else if constexpr (op::is_row_norm<Layer<L>>) {
      row_norm_backward<L>(d_z, gradient_of<L>());
    } else {
      contraction<L>(d_z, gradient_of<L>());
    }
  }
  template <int L> void row_norm_backward(S const* d_z, S* d_x) {
    using Op = op::RowNormalization<op::Chain<>>;
    typename Op::template Backward<P> w;
    describe_row_norm<L>(w);
    w.d_y = d_z;
    w.statistics = statistics[L].data();
    w.d_x = d_x;
    w.accumulate_gradient = is_written[L];
    if (Layer<L>::scale) w.d_scale = work.gradients + work.forward.weight[L];
    if (Layer<L>::bias) w.d_shift = work.gradients + work.forward.bias[L];
    launch<Op>(w);
    is_written[L] = true;
  }
  template <int L> void pooling(S const* d_z, S* d_x) {
    using Op = op::Pooling<Layer<L>::kind>;
    if (d_x == nullptr && L == 0) return;
    launch<Op>(typename Op::template Backward<P>{batch, input<L>(), output<L>(), window<L>(),
                                                 value[L].data(), d_z, d_x, is_written[L]});
    is_written[L] = true;
  }
  template <int L> void contraction(S const* d_z, S* d_x) {
    using Op = op::Contraction<op::Chain<>>;
    A* const d_weight = work.gradients + work.forward.weight[L];
    A* const d_bias = Layer<L>::bias ? work.gradients + work.forward.bias[L] : nullptr;
    launch<Op>(typename Op::template BackwardParameters<P>{
        batch, input<L>(), output<L>(), window<L>(), value[L].data(), d_z, d_weight, d_bias});
    if (d_x == nullptr && L == 0) return;
    launch<Op>(typename Op::template BackwardInput<P>{batch, input<L>(), output<L>(), window<L>(),
                                                      d_z, weight(L), d_x, is_written[L]});
    is_written[L] = true;
  }
  // One of the two terms of the sum that is layer L.
  template <int L, int Value> void pass_on(S const* d_z) {
    S* const d_x = gradient_of<Value>();
    if (d_x == nullptr && Value == 0) return;
    constexpr int size = Layer<L>::inputs;
    launch<op::Copy>(
        op::Copy::Forward<P>{batch, size, size, 0, size, 0, d_z, d_x, is_written[Value]});
    is_written[Value] = true;
  }
};

template <class... D, class P>
  requires(!op::is_normalization<D> && ...)
struct Kernels<op::SegmentBackward<op::Segment<D...>>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename op::SegmentBackward<op::Segment<D...>>::template Run<P> const& work) {
    wait(exec);
    SegmentPass<op::Segment<D...>, P, Space>(exec, work).run();
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference

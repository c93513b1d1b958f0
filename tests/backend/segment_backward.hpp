// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/backend/thread_memory.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/op/segment_backward.hpp>
#include <phyllo/policy/precision.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

// The backward pass of a segment inside a network, by any backend.
namespace phyllo::test::segments {

using Space = Kokkos::DefaultHostExecutionSpace;

template <int In, int Out, bool Bias, class... C>
using Dense = op::Dense<In, Out, Bias, op::Chain<C...>>;

template <class Layer> constexpr Shape input_of() {
  if constexpr (op::is_on_rows<Layer>)
    return Shape{Layer::inputs};
  else
    return Layer::input;
}
template <class Layer> constexpr Shape output_of() {
  if constexpr (op::is_on_rows<Layer>)
    return Shape{Layer::outputs};
  else
    return Layer::output;
}
template <class Layer> constexpr int weights_of() {
  if constexpr (op::is_dense<Layer>)
    return Layer::inputs * Layer::outputs;
  else if constexpr (op::is_row_norm<Layer>)
    return Layer::scale ? Layer::outputs : 0;
  else if constexpr (op::is_sum<Layer> || requires { Layer::kind; })
    return 0;
  else
    return Layer::window.taps() * Layer::input.channels * Layer::output.channels;
}
template <class Layer> constexpr int biases_of() {
  return Layer::bias ? output_of<Layer>().channels : 0;
}

/// What becomes of the gradient of x.
enum class InputGradient { none, written, added };

template <class P> struct Gradients {
  std::vector<typename P::accumulate> parameters;
  std::vector<typename P::storage> x;
};

template <class Segment, class P> struct Problem;
template <class... D, class P> struct Problem<op::Segment<D...>, P> {
  using S = typename P::storage;
  using A = typename P::accumulate;
  using Segment = op::Segment<D...>;
  using Op = op::SegmentBackward<Segment>;
  using Work = typename Op::template Run<P>;
  static constexpr int length = sizeof...(D);
  static constexpr Shape inputs[] = {input_of<D>()...}, outputs[] = {output_of<D>()...};
  static constexpr Shape input = inputs[0], output = outputs[length - 1];
  // The arena begins and ends with parameters of other layers.
  static constexpr int first = 7, count = ((weights_of<D>() + biases_of<D>()) + ...), behind = 5;
  static constexpr int most_rows = 24;

  int batch;
  bool by_rows = false;  // x: rows as in a slot
  StepState state{.seed = 5, .forward = 3, .first_sample = 11};
  std::vector<op::RunningStatistics> statistics;
  std::vector<S> x, parameters, d_y, d_x_before;

  explicit Problem(int n)
      : batch(n),
        x(numbers(long(n) * input.size(), 1)),
        parameters(numbers(first + count + behind, 2)),
        d_y(numbers(long(n) * output.size(), 3)),
        d_x_before(numbers(long(n) * input.size(), 4)) {
    for (int l = 0; l < length; ++l) statistics.push_back({-1, 0.01 * (l + 1)});
  }

  // In [-1, 1), the same in every precision but for the rounding.
  static std::vector<S> numbers(long size, unsigned stream) {
    std::vector<S> v(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = S(float(2 * random_uniform(stream, 0, 0, i, 0) - 1));
    return v;
  }

  typename Segment::template Forward<P> forward() const {
    typename Segment::template Forward<P> work;
    work.batch = batch;
    work.x = x.data();
    work.parameters = parameters.data();
    work.random = {&state, 10};
    work.statistics = statistics.data();
    constexpr int weights[] = {weights_of<D>()...}, biases[] = {biases_of<D>()...};
    int at = first;
    // The layers lie in falling order, so that no kernel can do without the table.
    for (int l = length - 1; l >= 0; --l) {
      work.weight[l] = weights[l] > 0 ? at : -1;
      at += weights[l];
      work.bias[l] = biases[l] > 0 ? at : -1;
      at += biases[l];
      work.position[l] = short(3 * l + 1);
    }
    return work;
  }

  /// By kernels of a backend, whose work memory is full of not-a-numbers. With `shares`, the
  /// gradient of x, of as many numbers, takes the place of that of the result.
  template <template <class, class> class Kernels>
  Gradients<P> run(InputGradient wanted, int shards = 0, Space const& exec = {},
                   bool shares = false) const {
    using K = Kernels<Op, P>;
    constexpr A none = std::numeric_limits<A>::quiet_NaN();
    std::vector<A> arena(parameters.size(), none), partial(std::size_t(most_rows) * count, none);
    Gradients<P> got;
    got.x = d_x_before;
    if (wanted != InputGradient::added) got.x.assign(got.x.size(), S(float(none)));
    ThreadMemory<Space> const memory(exec, "memory", exec.concurrency(),
                                     kernel_traits<K>.thread_bytes);
    Work work;
    work.forward = forward();
    work.forward.shards = shards;
    work.forward.memory = memory.memory();
    for (int i = 0; i < work.forward.memory.slices; ++i)
      std::memset(static_cast<void*>(work.forward.memory.slice(i)), 0xff,
                  std::size_t(kernel_traits<K>.thread_bytes));
    if (shares) got.x = d_y;
    work.d_y = shares ? got.x.data() : d_y.data();
    work.d_x = wanted == InputGradient::none ? nullptr : got.x.data();
    work.accumulate_gradient = wanted == InputGradient::added;
    work.parameter_first = first;
    work.parameter_count = count;
    work.partial = partial.data();
    work.gradients = arena.data();
    work.rows = most_rows;
    if constexpr (kernel_traits<K>.takes_views) {
      std::vector<double> columns;
      K::run(exec, "backward", work, source(columns));
      exec.fence("backward");
    } else {
      K::run(exec, "backward", work);
      exec.fence("backward");
    }
    got.parameters.assign(arena.begin() + first, arena.begin() + first + count);
    for (int i = 0; i < first; ++i) CHECK(std::isnan(arena[std::size_t(i)]));
    for (int i = 0; i < behind; ++i) CHECK(std::isnan(arena[std::size_t(first + count + i)]));
    return got;
  }

 private:
  // x: images in their slot, rows there too or as a caller's variables, one after the other.
  ExternalTensor source(std::vector<double>& columns) const {
    ExternalTensor t;
    if (input.positions() == 1 && !by_rows) {
      for (int c = 0; c < input.channels; ++c)
        for (int n = 0; n < batch; ++n)
          columns.push_back(double(x[std::size_t(n * input.channels + c)]));
      t.data[0] = columns.data();
      t.type = ElementType::f64;
      t.sample_stride = 1;
      t.channel_stride = batch;
    } else {
      t.data[0] = const_cast<S*>(x.data());
      t.type = std::is_same_v<S, double>  ? ElementType::f64
               : std::is_same_v<S, float> ? ElementType::f32
                                          : ElementType::bf16;
      t.sample_stride = input.size();
      t.channel_stride = 1;
      t.spatial_stride[2] = input.channels;
      t.spatial_stride[1] = input.spatial[2] * t.spatial_stride[2];
      t.spatial_stride[0] = input.spatial[1] * t.spatial_stride[1];
    }
    return t;
  }
};

/// Norm of the difference, relative; a not-a-number stays.
template <class T> double distance(std::vector<T> const& expected, std::vector<T> const& got) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const e = double(expected[i]), d = double(got[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return norm == 0 ? difference : std::sqrt(difference / norm);
}

/// A few roundings of sums, and in 16 bits of every layer's values.
template <class P>
inline constexpr double bound = std::is_same_v<typename P::storage, double>  ? 1e-14
                                : std::is_same_v<typename P::storage, float> ? 4e-6
                                                                             : 2e-2;

/// Kernels of a backend against the reference.
template <class Segment, class P, template <class, class> class Kernels> void compare(int batch) {
  CAPTURE(batch);
  Problem<Segment, P> p(batch);
  for (auto const wanted : {InputGradient::none, InputGradient::written, InputGradient::added}) {
    CAPTURE(int(wanted));
    auto const expected = p.template run<reference::Kernels>(wanted);
    p.by_rows = false;
    auto const got = p.template run<Kernels>(wanted);
    CHECK(distance(expected.parameters, got.parameters) <= bound<P>);
    if (wanted != InputGradient::none) CHECK(distance(expected.x, got.x) <= bound<P>);
    if (p.input.positions() > 1) continue;
    p.by_rows = true;
    auto const of_rows = p.template run<Kernels>(wanted);
    CHECK(of_rows.parameters == got.parameters);
    if (wanted != InputGradient::none) CHECK(of_rows.x == got.x);
    if (wanted == InputGradient::written && p.input.size() == p.output.size()) {
      auto const shared = p.template run<Kernels>(wanted, 0, {}, true);
      CHECK(shared.parameters == got.parameters);
      CHECK(shared.x == got.x);
    }
  }
}

}  // namespace phyllo::test::segments

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <cstdint>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/loss.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/policy/precision.hpp>
#include <type_traits>
#include <vector>

using namespace phyllo;

namespace {

using Double = Full<double>;
using Numbers = std::vector<double>;

// Targets (N, H, W) or (N, H, W, C) in order.
template <class T> ExternalTensor targets_of(std::vector<T>& v, Shape const& s, bool classes) {
  int const channels = classes ? 1 : s.channels;
  ExternalTensor t;
  t.data[0] = v.data();
  t.type = std::is_same_v<T, std::int32_t> ? ElementType::i32 : ElementType::f64;
  t.channel_stride = 1;
  t.spatial_stride[2] = channels;
  t.spatial_stride[1] = channels * s.spatial[2];
  t.spatial_stride[0] = channels * s.spatial[2] * s.spatial[1];
  t.sample_stride = channels * s.positions();
  return t;
}

template <class L, class P = Double> struct Problem {
  using Op = op::Loss<L>;
  using S = typename P::storage;
  using A = typename P::accumulate;

  int batch;
  Shape shape;
  std::vector<S> outputs;
  std::vector<std::int32_t> classes;
  Numbers numbers;
  std::vector<A> values, correct;
  float weight = 1;
  bool accumulate_values = false;

  Problem(int n, Shape s)
      : batch(n),
        shape(s),
        outputs(test::rounded<S>(test::numbers(n * s.size(), 1))),
        numbers(test::numbers(n * s.size(), 2)),
        values(std::size_t(n), A(1e9)),
        correct(std::size_t(n), A(1e9)) {
    for (int i = 0; i < n * s.positions(); ++i) classes.push_back((i * 7 + 1) % s.channels);
  }

  void run(StepState const* state, S* d_outputs, bool accumulate_gradient,
           bool wants_correct = true) {
    auto const targets =
        L::classes ? targets_of(classes, shape, true) : targets_of(numbers, shape, false);
    test::run<Op, P>(typename Op::template Evaluate<P>{{},
                                                       batch,
                                                       shape,
                                                       weight,
                                                       outputs.data(),
                                                       targets,
                                                       state,
                                                       d_outputs,
                                                       accumulate_gradient,
                                                       values.data(),
                                                       wants_correct ? correct.data() : nullptr,
                                                       nullptr,
                                                       accumulate_values});
  }
};

}  // namespace

TEST_CASE("reference loss: cross-entropy by hand") {
  Problem<CrossEntropy> p(2, {3});
  p.outputs = {0, 0, 0, std::log(2.0), 0, 0};
  p.classes = {2, 0};
  Numbers d(6);
  p.run(nullptr, d.data(), false);
  CHECK(test::largest_difference(p.values, {std::log(3.0), std::log(2.0)}) < 1e-15);
  CHECK(test::largest_difference(d, {1.0 / 3, 1.0 / 3, -2.0 / 3, -0.5, 0.25, 0.25}) < 1e-15);
  CHECK(p.correct == Numbers{0, 1});  // of equal ones the first is the answer
  p.classes = {0, 1};
  p.run(nullptr, nullptr, false);
  CHECK(p.correct == Numbers{1, 0});
  CHECK(test::largest_difference(p.values, {std::log(3.0), std::log(4.0)}) < 1e-15);
}

TEST_CASE("reference loss: cross-entropy neither overflows nor accepts a class that is not one") {
  Problem<CrossEntropy> p(3, {2});
  p.outputs = {2000, 0, 0, 0, 0, 0};
  p.classes = {1, -1, 2};
  p.run(nullptr, nullptr, false);
  CHECK(p.values[0] == 2000);
  CHECK(std::isnan(p.values[1]));
  CHECK(std::isnan(p.values[2]));
  CHECK(p.correct == Numbers{0, 0, 0});
}

TEST_CASE("reference loss: mean squared error by hand") {
  Problem<MeanSquaredError> p(2, {2});
  p.outputs = {1, 2, 3, 4};
  p.numbers = {0, 4, 3, 4.5};
  Numbers d(4);
  p.run(nullptr, d.data(), false);
  CHECK(p.values == Numbers{2.5, 0.125});
  CHECK(d == Numbers{1, -2, 0, -0.5});
  CHECK(p.correct == Numbers{0, 0});
}

TEST_CASE("reference loss: a sample's loss is the weighted mean over its positions") {
  Problem<CrossEntropy> p(1, {2, 2, 2});
  p.outputs = {0, 0, 0, 0, std::log(3.0), 0, std::log(3.0), 0};  // (2, 2, C)
  p.classes = {0, 1, 0, 1};
  p.weight = 0.5f;
  StepState state;
  state.loss_scale = 8;
  Numbers d(8, 100);
  p.run(&state, d.data(), false);
  CHECK(p.values[0] ==
        doctest::Approx(0.5 * (2 * std::log(2.0) + std::log(4.0 / 3) + std::log(4.0)) / 4)
            .epsilon(1e-14));
  CHECK(p.correct == Numbers{0.5});
  // The gradient carries weight x scale / positions = 1, the value no scale.
  CHECK(test::largest_difference(d, {-0.5, 0.5, 0.5, -0.5, -0.25, 0.25, 0.75, -0.75}) < 1e-15);
}

TEST_CASE("reference loss: mean squared error reads the target of its own position") {
  Shape const shape{2, 2, 3, 4};
  Problem<MeanSquaredError> p(2, shape);
  p.outputs = p.numbers;
  Numbers d(p.outputs.size(), 1);
  p.run(nullptr, d.data(), false);
  CHECK(p.values == Numbers{0, 0});
  CHECK(d == Numbers(d.size(), 0.0));
}

TEST_CASE_TEMPLATE("reference loss: gradients are central differences", L, CrossEntropy,
                   MeanSquaredError) {
  Shape const shapes[] = {{5}, {3, 4}, {2, 3, 2}, {2, 2, 1, 3}};
  for (Shape const& shape : shapes) {
    CAPTURE(shape.size());
    Problem<L> p(3, shape);
    p.weight = 0.75f;
    StepState state;
    state.loss_scale = 16;
    Numbers d(p.outputs.size(), 1e9), plain(d.size(), 1e9);
    p.run(nullptr, plain.data(), false);
    p.run(&state, d.data(), false);
    auto const value = [&] {
      p.run(&state, nullptr, false, false);
      double sum = 0;
      for (double const v : p.values) sum += v;
      return sum;
    };
    auto const differences = test::central_differences(p.outputs.data(), p.outputs.size(), value);
    CHECK(test::relative_error(plain, differences) <= 1e-6);
    for (double& g : plain) g *= 16;
    CHECK(test::largest_difference(d, plain) < 1e-14);

    auto const before = test::numbers(int(d.size()), 9);
    auto added = before;
    p.run(&state, added.data(), true);
    CHECK(test::largest_difference(added, test::sum(d, before)) < 1e-14);
  }
}

TEST_CASE("reference loss: values are added where asked") {
  Problem<MeanSquaredError> p(3, {2});
  p.run(nullptr, nullptr, false);
  auto const once = p.values;
  p.accumulate_values = true;
  p.weight = 2;
  p.run(nullptr, nullptr, false);
  for (std::size_t n = 0; n < 3; ++n) CHECK(p.values[n] == doctest::Approx(3 * once[n]));
}

TEST_CASE("reference loss: sums over the batch, and over nothing") {
  using Sum = op::LossSum<Double>;
  Numbers const values{1, 2, 4.5}, correct{1, 0, 0.5};
  Numbers partial(std::size_t(3 * Sum::blocks)), sums(3, 1e9);
  test::run<Sum, Double>(Sum{3, values.data(), correct.data(), partial.data(), sums.data()});
  CHECK(sums == Numbers{3, 7.5, 1.5});
  test::run<Sum, Double>(Sum{2, values.data(), nullptr, partial.data(), sums.data()});
  CHECK(sums == Numbers{2, 3, 0});
  test::run<Sum, Double>(Sum{0, values.data(), correct.data(), partial.data(), sums.data()});
  CHECK(sums == Numbers{0, 0, 0});
  Problem<CrossEntropy> nothing(0, {3});
  Numbers d{9};
  nothing.run(nullptr, d.data(), false);
  CHECK(d == Numbers{9});
}

TEST_CASE_TEMPLATE("reference loss: sixteen bits are evaluated in float and rounded once", S, bf16,
                   fp16) {
  Problem<CrossEntropy, Mixed<S, float>> p(3, {4});
  Problem<CrossEntropy> exact(3, {4});
  exact.outputs = test::widened(p.outputs);
  StepState state;
  state.loss_scale = 1024;
  std::vector<S> d(12);
  Numbers exact_d(12);
  p.run(&state, d.data(), false);
  exact.run(&state, exact_d.data(), false);
  CHECK(test::largest_difference(test::widened(p.values), exact.values) < 1e-6);
  CHECK(test::widened(p.correct) == exact.correct);
  for (std::size_t i = 0; i < 12; ++i)
    CHECK(std::abs(double(d[i]) - exact_d[i]) <=
          0.51 * double(S::epsilon) * std::abs(exact_d[i]) + 1e-3);
}

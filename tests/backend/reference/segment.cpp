// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A segment and a whole step against the same layers one op at a time, and against differences.

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <cstdint>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;
using phyllo::op::Chain;
using phyllo::op::Dense;
using phyllo::op::Segment;

namespace {

using Double = Full<double>;
using Numbers = std::vector<double>;

using Smooth = Segment<Dense<4, 5, true, Chain<Tanh>>, Dense<5, 3, false, Chain<test::UserMish>>,
                       Dense<3, 2, true, Chain<>>>;
using Kinked =
    Segment<Dense<3, 6, true, Chain<ReLU>>, Dense<6, 4, true, Chain<test::UserMish, Tanh>>,
            Dense<4, 3, false, Chain<Tanh>>>;
using Random = Segment<Dense<4, 6, true, Chain<Tanh, Dropout<0.3>>>,
                       Dense<6, 5, true, Chain<Dropout<0.4>>>, Dense<5, 3, true, Chain<>>>;
using Single = Segment<Dense<3, 2, true, Chain<Tanh>>>;
using Rectified = Segment<Dense<4, 6, true, Chain<ReLU>>, Dense<6, 5, true, Chain<ReLU>>,
                          Dense<5, 3, true, Chain<>>>;

// What both ways of running the layers are given.
template <class S, class P> struct Problem;
template <class... D, class P> struct Problem<Segment<D...>, P> {
  using S = typename P::storage;
  using A = typename P::accumulate;
  static constexpr int length = sizeof...(D);
  int inputs[length] = {D::inputs...}, outputs[length] = {D::outputs...};
  bool has_bias[length] = {D::bias...};
  int weight[length] = {}, bias[length] = {};
  int position[length] = {};

  int batch;
  int parameter_count = 0;
  StepState state;
  std::vector<S> x, parameters;
  std::vector<std::int32_t> classes;
  Numbers numbers;
  float loss_weight = 1;

  explicit Problem(int n) : batch(n) {
    state.seed = 21;
    state.first_sample = 100;
    state.loss_scale = 4;
    // The layers lie in falling order, so that no kernel can do without the table.
    for (int l = length - 1; l >= 0; --l) {
      weight[l] = parameter_count;
      parameter_count += inputs[l] * outputs[l];
      bias[l] = has_bias[l] ? parameter_count : -1;
      parameter_count += has_bias[l] ? outputs[l] : 0;
      position[l] = 3 * l + 1;
    }
    x = test::rounded<S>(test::numbers(n * inputs[0], 1));
    parameters = test::rounded<S>(test::numbers(parameter_count, 2));
    int const last = outputs[length - 1];
    numbers = test::numbers(n * last, 3);
    for (int i = 0; i < n; ++i) classes.push_back((2 * i + 1) % last);
  }

  typename Segment<D...>::template Forward<P> forward(S* y) {
    typename Segment<D...>::template Forward<P> work;
    work.batch = batch;
    work.x = x.data();
    work.y = y;
    work.parameters = parameters.data();
    work.random = {&state, 10};
    for (int l = 0; l < length; ++l) {
      work.weight[l] = weight[l];
      work.bias[l] = bias[l];
      work.position[l] = position[l];
    }
    return work;
  }
  template <class L> ExternalTensor targets() {
    ExternalTensor t;
    t.data[0] = L::classes ? static_cast<void*>(classes.data()) : numbers.data();
    t.type = L::classes ? ElementType::i32 : ElementType::f64;
    t.channel_stride = 1;
    t.sample_stride = L::classes ? 1 : outputs[length - 1];
    return t;
  }
};

// Values and gradients of a step.
template <class A> struct WholeStepResult {
  std::vector<A> gradients, values, correct;
};

// One op at a time.
template <class S, class P> struct Unfused;
template <class... D, class P> struct Unfused<Segment<D...>, P> {
  using S = typename P::storage;
  using A = typename P::accumulate;
  using Given = Problem<Segment<D...>, P>;
  using Plain = op::Contraction<Chain<>>;
  static constexpr int length = Given::length;

  Given& given;
  std::vector<S> value[length + 1], saved[length];

  explicit Unfused(Given& g) : given(g) {
    value[0] = g.x;
    int l = 0;
    (layer<D>(l++), ...);
  }

  Randomness random(int l) const { return {&given.state, 10 + given.position[l]}; }

  template <class Dense> void layer(int l) {
    using Op = op::Contraction<typename Dense::chain>;
    auto const i = std::size_t(l);
    value[i + 1].resize(std::size_t(given.batch * Dense::outputs));
    saved[i].resize(value[i + 1].size());
    typename Op::template Forward<P> work;
    work.batch = given.batch;
    work.input = {Dense::inputs};
    work.output = {Dense::outputs};
    work.x = value[i].data();
    work.weight = given.parameters.data() + given.weight[l];
    work.bias = Dense::bias ? given.parameters.data() + given.bias[l] : nullptr;
    work.y = value[i + 1].data();
    work.saved = saved[i].data();
    work.random = random(l);
    test::run<Op, P>(work);
  }

  template <class Dense> void backward(int l, std::vector<S>& d, std::vector<A>& gradients) {
    using Op = op::Pointwise<typename Dense::chain>;
    auto const i = std::size_t(l);
    if (Dense::chain::length > 0)
      test::run<Op, P>(typename Op::template Backward<P>{
          given.batch, Dense::outputs, test::kept<typename Dense::chain>(saved[i], value[i + 1]),
          d.data(), d.data(), false, random(l)});
    test::run<Plain, P>(
        Plain::BackwardParameters<P>{given.batch,
                                     {Dense::inputs},
                                     {Dense::outputs},
                                     {},
                                     value[i].data(),
                                     d.data(),
                                     gradients.data() + given.weight[l],
                                     Dense::bias ? gradients.data() + given.bias[l] : nullptr});
    std::vector<S> d_x(value[i].size());
    test::run<Plain, P>(Plain::BackwardInput<P>{given.batch,
                                                {Dense::inputs},
                                                {Dense::outputs},
                                                {},
                                                d.data(),
                                                given.parameters.data() + given.weight[l],
                                                d_x.data(),
                                                false});
    d = d_x;
  }

  template <class L> WholeStepResult<A> step() {
    auto const n = std::size_t(given.batch);
    std::vector<S> d(value[length].size());
    WholeStepResult<A> s{std::vector<A>(std::size_t(given.parameter_count)), std::vector<A>(n),
                         std::vector<A>(n)};
    using Op = op::Loss<L>;
    test::run<Op, P>(typename Op::template Evaluate<P>{{},
                                                       given.batch,
                                                       {given.outputs[length - 1]},
                                                       given.loss_weight,
                                                       value[length].data(),
                                                       given.template targets<L>(),
                                                       &given.state,
                                                       d.data(),
                                                       false,
                                                       s.values.data(),
                                                       s.correct.data(),
                                                       nullptr,
                                                       false});
    all_backward<D...>(0, d, s.gradients);
    return s;
  }
  // The last layer first.
  template <class First, class... Rest>
  void all_backward(int l, std::vector<S>& d, std::vector<A>& gradients) {
    if constexpr (sizeof...(Rest) > 0) all_backward<Rest...>(l + 1, d, gradients);
    backward<First>(l, d, gradients);
  }
};

template <class L, class S, class P>
WholeStepResult<typename P::accumulate> whole_step(Problem<S, P>& p, bool correct = true) {
  using Op = op::WholeStep<S, L>;
  using A = typename P::accumulate;
  auto const n = std::size_t(p.batch);
  std::vector<A> partial(std::size_t(Op::blocks * p.parameter_count));
  WholeStepResult<A> s{std::vector<A>(std::size_t(p.parameter_count), A(1e9)),
                       std::vector<A>(n, A(1e9)), std::vector<A>(n, A(1e9))};
  test::run<Op, P>(typename Op::template Run<P>{{},
                                                p.forward(nullptr),
                                                p.loss_weight,
                                                p.template targets<L>(),
                                                &p.state,
                                                p.parameter_count,
                                                partial.data(),
                                                s.gradients.data(),
                                                s.values.data(),
                                                correct ? s.correct.data() : nullptr});
  return s;
}

template <class S, class P> std::vector<typename P::storage> outputs(Problem<S, P>& p) {
  constexpr int last = Problem<S, P>::length - 1;
  std::vector<typename P::storage> y(std::size_t(p.batch * p.outputs[last]));
  test::run<S, P>(p.forward(y.data()));
  return y;
}

}  // namespace

TEST_CASE("reference segment: two layers by hand") {
  using S = Segment<Dense<2, 2, true, Chain<ReLU>>, Dense<2, 1, false, Chain<>>>;
  Problem<S, Double> p(2);
  p.x = {1, 2, -1, 0};
  // Layer 1: weight (2, 1); layer 0: weight (2, 2), bias (2).
  p.parameters = {10, 100, 1, -1, 1, 2, 0.5, -2};
  CHECK(outputs(p) == Numbers{135, 0});
  p.state.loss_scale = 1;
  p.numbers = {134, 1};
  auto const s = whole_step<MeanSquaredError>(p);
  CHECK(s.values == Numbers{1, 1});
  CHECK(s.correct == Numbers{0, 0});
  // d_y = 2 and -2; the second sample's hidden values are zero, and so are its slopes.
  CHECK(s.gradients == Numbers{7, 2, 20, 200, 40, 400, 20, 200});
}

TEST_CASE_TEMPLATE("reference segment: equals its layers one at a time", S, Smooth, Kinked, Random,
                   Single) {
  for (int const batch : {1, 5}) {
    Problem<S, Double> p(batch);
    Unfused<S, Double> unfused(p);
    auto const y = outputs(p);
    CHECK(test::largest_difference(y, unfused.value[Problem<S, Double>::length]) < 1e-14);
    CHECK(test::norm(y) > 0.1);
  }
}

TEST_CASE_TEMPLATE("reference whole step: equals its layers one at a time", S, Smooth, Kinked,
                   Random, Single) {
  Problem<S, Double> p(7);
  p.loss_weight = 0.75f;
  Unfused<S, Double> unfused(p);
  auto const check = [](WholeStepResult<double> const& a, WholeStepResult<double> const& b) {
    CHECK(test::relative_error(a.gradients, b.gradients) < 1e-14);
    CHECK(test::largest_difference(a.values, b.values) < 1e-14);
    CHECK(a.correct == b.correct);
  };
  check(whole_step<CrossEntropy>(p), unfused.template step<CrossEntropy>());
  check(whole_step<MeanSquaredError>(p), unfused.template step<MeanSquaredError>());
}

TEST_CASE_TEMPLATE("reference whole step: gradients are central differences", S, Smooth, Kinked,
                   Random, Single) {
  Problem<S, Double> p(4);
  p.loss_weight = 1.5f;
  Unfused<S, Double> layers(p);
  for (auto const& z : layers.saved) REQUIRE(test::away_from_zero(z));
  auto const check = [&](auto const& step) {
    auto d = step().gradients;
    for (double& g : d) g /= 4;  // the loss scale, which the values do not carry
    auto const differences =
        test::central_differences(p.parameters.data(), p.parameters.size(), [&] {
          double sum = 0;
          for (double const v : step().values) sum += v;
          return sum;
        });
    CHECK(test::relative_error(d, differences) <= 1e-6);
  };
  check([&] { return whole_step<CrossEntropy>(p, false); });
  check([&] { return whole_step<MeanSquaredError>(p, false); });
}

TEST_CASE("reference segment and whole step: a batch of nothing gives gradients of zero") {
  Problem<Smooth, Double> p(0);
  CHECK(outputs(p).empty());
  auto const s = whole_step<CrossEntropy>(p);
  CHECK(s.gradients == Numbers(std::size_t(p.parameter_count), 0.0));
  CHECK(s.values.empty());
}

TEST_CASE_TEMPLATE("reference segment and whole step: sixteen bits are rounded where single ops do",
                   S, bf16, fp16) {
  using P = Mixed<S, float>;
  Problem<Rectified, P> p(6);
  // Multiples of 1/8: with rectifiers all sums are exact in float and every order of them agrees.
  for (S& v : p.x) v = S(std::round(8 * float(v)) / 8);
  for (S& v : p.parameters) v = S(std::round(8 * float(v)) / 8);
  Unfused<Rectified, P> unfused(p);
  auto const y = test::widened(outputs(p));
  CHECK(y == test::widened(unfused.value[3]));

  auto const exact = [&] {
    Problem<Rectified, Double> same(6);
    same.x = test::widened(p.x);
    same.parameters = test::widened(p.parameters);
    return outputs(same);
  }();
  CHECK(test::relative_error(exact, y) < double(S::epsilon));
  if (std::is_same_v<S, bf16>) CHECK(y != exact);  // fp16 has bits enough for these sums

  auto const whole = whole_step<CrossEntropy>(p);
  auto const single = unfused.template step<CrossEntropy>();
  CHECK(test::widened(whole.values) == test::widened(single.values));
  CHECK(test::widened(whole.correct) == test::widened(single.correct));
  // Only the float sums over samples may be ordered in another way.
  CHECK(test::relative_error(test::widened(single.gradients), test::widened(whole.gradients)) <
        1e-6);
}

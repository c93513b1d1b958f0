// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/contraction.hpp>
#include <phyllo/backend/reference/normalization.hpp>
#include <phyllo/backend/reference/pointwise.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;
using phyllo::op::Chain;

namespace {

using Double = Full<double>;
using Plain = op::Contraction<Chain<>>;

struct Case {
  char const* name;
  Shape input;
  int outputs;
  Window window;
  bool has_bias = true;
  int batch = 2;

  Shape output() const { return window.output(input, outputs); }
};

std::vector<Case> cases() {
  return {
      {"linear", {5}, 4, {}},
      {"linear without bias", {3}, 7, {}, false},
      {"1-D, stride and padding", {3, 11}, 2, {{1, 1, 4}, {1, 1, 2}, {0, 0, 1}}},
      {"2-D, rectangular", {2, 5, 7}, 3, {{1, 3, 2}, {1, 1, 2}, {0, 1, 0}}},
      {"2-D, window larger than the input", {1, 3, 3}, 2, {{1, 5, 5}, {1, 1, 1}, {0, 2, 2}}},
      {"2-D, stride larger than the window",
       {2, 7, 6},
       2,
       {{1, 2, 2}, {1, 3, 3}, {0, 0, 0}},
       false},
      {"3-D", {2, 3, 4, 3}, 2, {{2, 3, 2}, {2, 1, 1}, {1, 1, 0}}, true, 1},
  };
}

template <class C> struct Problem {
  using Op = op::Contraction<C>;
  Case of;
  StepState state;
  std::vector<double> x, weight, bias, y, z, probe;

  explicit Problem(Case const& c)
      : of(c),
        x(test::numbers(c.batch * c.input.size(), 1)),
        weight(test::numbers(c.window.taps() * c.input.channels * c.outputs, 2)),
        bias(test::numbers(c.has_bias ? c.outputs : 0, 3)),
        y(std::size_t(c.batch * c.output().size())),
        z(y.size()),
        probe(test::numbers(int(y.size()), 4)) {
    state.seed = 3;
  }

  // Sum of probe y.
  double value() {
    typename Op::template Forward<Double> work;
    work.batch = of.batch;
    work.input = of.input;
    work.output = of.output();
    work.window = of.window;
    work.x = x.data();
    work.weight = weight.data();
    work.bias = of.has_bias ? bias.data() : nullptr;
    work.y = y.data();
    work.saved = z.data();
    work.random = {&state, 2};
    test::run<Op, Double>(work);
    return test::dot(probe, y);
  }

  struct Gradient {
    std::vector<double> z, x, weight, bias;
  };
  Gradient gradient(std::vector<double> const& d_x_before = {}) {
    value();
    Gradient d{probe, d_x_before, std::vector<double>(weight.size(), 1e9),
               std::vector<double>(bias.size(), 1e9)};
    if (d_x_before.empty()) d.x.assign(x.size(), 1e9);
    test::run<op::Pointwise<C>, Double>(
        typename op::Pointwise<C>::template Backward<Double>{of.batch,
                                                             of.output().size(),
                                                             test::kept<C>(z, y),
                                                             d.z.data(),
                                                             d.z.data(),
                                                             false,
                                                             {&state, 2}});
    test::run<Plain, Double>(Plain::BackwardInput<Double>{of.batch, of.input, of.output(),
                                                          of.window, d.z.data(), weight.data(),
                                                          d.x.data(), !d_x_before.empty()});
    test::run<Plain, Double>(Plain::BackwardParameters<Double>{
        of.batch, of.input, of.output(), of.window, x.data(), d.z.data(), d.weight.data(),
        of.has_bias ? d.bias.data() : nullptr});
    return d;
  }
};

// y of one sample, without a chain, in double.
std::vector<double> forward(Shape input, int outputs, Window const& window,
                            std::vector<double> const& x, std::vector<double> const& weight,
                            std::vector<double> const& bias) {
  Plain::Forward<Double> work;
  work.batch = 1;
  work.input = input;
  work.output = window.output(input, outputs);
  work.window = window;
  work.x = x.data();
  work.weight = weight.data();
  work.bias = bias.empty() ? nullptr : bias.data();
  std::vector<double> y(std::size_t(work.output.size()));
  work.y = y.data();
  test::run<Plain, Double>(work);
  return y;
}

}  // namespace

TEST_CASE("reference contraction: three by three by hand") {
  std::vector<double> x(16), weight(9);
  for (std::size_t i = 0; i < 16; ++i) x[i] = double(i + 1);
  for (std::size_t i = 0; i < 9; ++i) weight[i] = double(i + 1);
  Shape const image{1, 4, 4};
  CHECK(forward(image, 1, {{1, 3, 3}, {1, 1, 1}, {0, 0, 0}}, x, weight, {0.5}) ==
        std::vector<double>{348.5, 393.5, 528.5, 573.5});
  // Corners with padding, every third position: 5 1 + 6 2 + 8 5 + 9 6 at the upper left.
  CHECK(forward(image, 1, {{1, 3, 3}, {1, 3, 3}, {0, 1, 1}}, x, weight, {}) ==
        std::vector<double>{111, 4 * 3 + 5 * 4 + 7 * 7 + 8 * 8, 2 * 9 + 3 * 10 + 5 * 13 + 6 * 14,
                            1 * 11 + 2 * 12 + 4 * 15 + 5 * 16});
}

TEST_CASE("reference contraction: channels and orders of memory by hand") {
  // x (position, channel), weight (tap, channel, output).
  CHECK(forward({2, 2}, 3, {}, {1, 2, 3, 4}, {1, 10, 100, 2, 20, 200}, {0, 0, 1}) ==
        std::vector<double>{5, 50, 501, 11, 110, 1101});
  CHECK(forward({2, 2}, 1, {{1, 1, 2}, {1, 1, 1}, {0, 0, 0}}, {1, 2, 3, 4}, {1, 10, 100, 1000},
                {}) == std::vector<double>{4321});
  // Depth, height, width.
  CHECK(forward({1, 2, 2, 2}, 1, {{2, 2, 2}, {1, 1, 1}, {0, 0, 0}}, {1, 2, 3, 4, 5, 6, 7, 8},
                {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}, {}) == std::vector<double>{87654321});
}

TEST_CASE_TEMPLATE("reference contraction: gradients are central differences", C, Chain<>,
                   Chain<ReLU>, Chain<Tanh>, Chain<test::UserMish>, Chain<Dropout<0.3>>,
                   Chain<Tanh, test::UserMish>, Chain<test::UserMish, ReLU>,
                   Chain<Tanh, Dropout<0.3>>) {
  for (Case const& c : cases()) {
    CAPTURE(c.name);
    Problem<C> p(c);
    auto const d = p.gradient();
    REQUIRE(test::away_from_zero(p.z));
    auto const value = [&] { return p.value(); };
    CHECK(test::relative_error(d.x, test::central_differences(p.x.data(), p.x.size(), value)) <=
          1e-6);
    CHECK(test::relative_error(d.weight, test::central_differences(p.weight.data(), p.weight.size(),
                                                                   value)) <= 1e-6);
    if (c.has_bias)
      CHECK(test::relative_error(
                d.bias, test::central_differences(p.bias.data(), p.bias.size(), value)) <= 1e-6);
  }
}

TEST_CASE("reference contraction: the gradient of the input is added where asked") {
  for (Case const& c : cases()) {
    CAPTURE(c.name);
    Problem<Chain<Tanh>> p(c);
    auto const before = test::numbers(int(p.x.size()), 9);
    CHECK(test::largest_difference(p.gradient(before).x, test::sum(p.gradient().x, before)) <
          1e-14);
  }
}

TEST_CASE("reference contraction: a batch of nothing writes zero gradients and nothing else") {
  Case c = cases()[3];
  c.batch = 0;
  Problem<Chain<Tanh>> p(c);
  auto const d = p.gradient();
  CHECK(p.value() == 0);
  CHECK(p.y.empty());
  REQUIRE(d.weight.size() == 36);
  CHECK(d.weight == std::vector<double>(36, 0.0));
  CHECK(d.bias == std::vector<double>(3, 0.0));
}

TEST_CASE("reference contraction: a folded normalisation stands between bias and chain") {
  using Op = op::Contraction<Chain<Tanh>>;
  using Norm = op::Normalization<Chain<Tanh>>;
  Case const c = cases()[3];
  Problem<Chain<>> p(c);
  p.value();
  std::vector<float> const mean{0.5f, -0.25f, 1}, variance{3, 0.5f, 2};
  std::vector<double> const scale{0.25, -0.5, 1}, shift{0.1, 0.2, 0.3};

  std::vector<double> wanted(p.y.size());
  typename Norm::Forward<Double> norm;
  norm.batch = c.batch;
  norm.positions = c.output().positions();
  norm.channels = c.outputs;
  norm.x = p.y.data();
  norm.scale = scale.data();
  norm.shift = shift.data();
  norm.running_mean = mean.data();
  norm.running_variance = variance.data();
  norm.epsilon = 1;
  norm.y = wanted.data();
  test::run<Norm, Double>(norm);

  std::vector<double> y(p.y.size()), saved(p.y.size());
  Op::Forward<Double> work;
  work.batch = c.batch;
  work.input = c.input;
  work.output = c.output();
  work.window = c.window;
  work.x = p.x.data();
  work.weight = p.weight.data();
  work.bias = p.bias.data();
  work.fold = {mean.data(), variance.data(), scale.data(), shift.data(), 1};
  work.y = y.data();
  work.saved = saved.data();
  test::run<Op, Double>(work);
  CHECK(test::largest_difference(y, wanted) < 1e-14);
  // By hand: channel 0 has the deviation 2.
  CHECK(saved[0] == doctest::Approx((p.y[0] - 0.5) / 2 * 0.25 + 0.1).epsilon(1e-14));
  CHECK(y[0] == Tanh::value(saved[0]));
}

TEST_CASE("reference contraction: random functions draw under sample, layer and element") {
  using Op = op::Contraction<Chain<Dropout<0.5>>>;
  Case const c = cases()[3];
  Problem<Chain<>> plain(c);
  plain.value();
  std::vector<double> y(plain.y.size());
  StepState state;
  state.seed = 99;
  state.forward = 5;
  state.first_sample = 1000;
  Op::Forward<Double> work;
  work.batch = c.batch;
  work.input = c.input;
  work.output = c.output();
  work.window = c.window;
  work.x = plain.x.data();
  work.weight = plain.weight.data();
  work.bias = plain.bias.data();
  work.y = y.data();
  work.random = {&state, 7};
  test::run<Op, Double>(work);
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    auto const size = std::size_t(c.output().size());
    bool const drop = random_uniform(99, 5, 7, 1000 + i / size, std::uint32_t(i % size)) < 0.5f;
    CHECK(y[i] == (drop ? 0 : 2 * plain.y[i]));
    dropped += drop ? 1 : 0;
  }
  CHECK(dropped > 0);
  CHECK(dropped < y.size());
  // Without a state, as in inference, the identity.
  work.random = {};
  test::run<Op, Double>(work);
  CHECK(y == plain.y);
}

TEST_CASE_TEMPLATE("reference contraction: sums are kept in float and rounded once", S, bf16,
                   fp16) {
  using P = Mixed<S, float>;
  // One and a half unit in the last place of `large`, in three steps that storage would lose.
  float const large = 2 / S::epsilon;
  std::vector<S> const x{S(large), S(1.0f), S(1.0f), S(1.0f)}, weight(4, S(1.0f));
  std::vector<S> y(1), saved(1), d_x(4), d_z(4, S(1.0f));
  Plain::Forward<P> work;
  work.batch = 1;
  work.input = {4};
  work.output = {1};
  work.x = x.data();
  work.weight = weight.data();
  work.y = y.data();
  work.saved = saved.data();
  test::run<Plain, P>(work);
  CHECK(float(y[0]) == large + 4);  // large + 3, a tie, to even
  CHECK(float(saved[0]) == large + 4);

  // Four samples of one input: the gradient of the weight is a float sum, not rounded.
  std::vector<float> d_weight(1, -1), d_bias(1, -1);
  test::run<Plain, P>(Plain::BackwardParameters<P>{
      4, {1}, {1}, {}, x.data(), d_z.data(), d_weight.data(), d_bias.data()});
  CHECK(d_weight[0] == large + 3);
  CHECK(d_bias[0] == 4);

  // One input of four outputs, added to what is there: rounded once.
  std::vector<S> before{S(2.0f)};
  test::run<Plain, P>(
      Plain::BackwardInput<P>{1, {1}, {4}, {}, x.data(), weight.data(), before.data(), true});
  CHECK(float(before[0]) == large + 4);  // large + 5, a tie, to even
  test::run<Plain, P>(
      Plain::BackwardInput<P>{4, {1}, {1}, {}, d_z.data(), weight.data(), d_x.data(), false});
  CHECK(test::widened(d_x) == std::vector<double>(4, 1.0));
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <finite_difference.hpp>
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
constexpr int batch = 3, size = 8;

template <class C> struct Problem {
  using Op = op::Pointwise<C>;
  StepState state;
  std::vector<double> x = test::numbers(batch * size, 1), y = x,
                      probe = test::numbers(batch * size, 2);

  double value() {
    test::run<Op, Double>(
        typename Op::template Forward<Double>{batch, size, x.data(), y.data(), {&state, 4}});
    return test::dot(probe, y);
  }
  void backward(double const* d_y, double* d_x, bool accumulate) {
    value();
    test::run<Op, Double>(typename Op::template Backward<Double>{
        batch, size, test::kept<C>(x, y), d_y, d_x, accumulate, {&state, 4}});
  }
};

template <class C> using AddWork = typename op::Add<C>::template Forward<Double>;

}  // namespace

TEST_CASE("reference pointwise: values by hand") {
  using Op = op::Pointwise<Chain<ReLU, test::UserMish>>;
  std::vector<double> y{-2, 0, 1, 2};  // in place
  test::run<Op, Double>(Op::Forward<Double>{2, 2, y.data(), y.data(), {}});
  CHECK(y[0] == 0);
  CHECK(y[1] == 0);
  // tanh(log(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1)
  double const s = (1 + std::exp(1.0)) * (1 + std::exp(1.0));
  CHECK(y[2] == doctest::Approx((s - 1) / (s + 1)).epsilon(1e-14));
  double const t = (1 + std::exp(2.0)) * (1 + std::exp(2.0));
  CHECK(y[3] == doctest::Approx(2 * (t - 1) / (t + 1)).epsilon(1e-14));
}

TEST_CASE("reference pointwise: the chain's functions are applied from left to right") {
  using First = op::Pointwise<Chain<Tanh, test::UserMish>>;
  using Second = op::Pointwise<Chain<test::UserMish, Tanh>>;
  // Compilers evaluate functions of a constant themselves, and round otherwise than the library.
  double const volatile given = -1.5;
  std::vector<double> const x{given};
  std::vector<double> y(1);
  test::run<First, Double>(First::Forward<Double>{1, 1, x.data(), y.data(), {}});
  CHECK(y[0] == test::UserMish::value(Tanh::value(given)));
  test::run<Second, Double>(Second::Forward<Double>{1, 1, x.data(), y.data(), {}});
  CHECK(y[0] == Tanh::value(test::UserMish::value(given)));
}

TEST_CASE_TEMPLATE("reference pointwise: gradients are central differences", C, Chain<>,
                   Chain<ReLU>, Chain<Tanh>, Chain<test::UserMish>, Chain<Dropout<0.4>>,
                   Chain<Dropout<0.2>, Dropout<0.4>>, Chain<ReLU, Tanh>,
                   Chain<test::UserMish, Tanh>, Chain<Tanh, Dropout<0.4>, test::UserMish>) {
  Problem<C> p;
  REQUIRE(test::away_from_zero(p.x));
  std::vector<double> d_x(p.x.size(), 1e9);
  p.backward(p.probe.data(), d_x.data(), false);
  auto const differences =
      test::central_differences(p.x.data(), p.x.size(), [&] { return p.value(); });
  CHECK(test::relative_error(d_x, differences) <= 1e-6);

  auto const before = test::numbers(batch * size, 3);
  auto added = before;
  p.backward(p.probe.data(), added.data(), true);
  CHECK(test::largest_difference(added, test::sum(d_x, before)) < 1e-15);

  auto in_place = p.probe;
  p.backward(in_place.data(), in_place.data(), false);
  CHECK(in_place == d_x);
}

TEST_CASE_TEMPLATE("reference pointwise: the error of differences falls as h squared", C,
                   Chain<Tanh>, Chain<test::UserMish>, Chain<test::UserMish, Tanh>) {
  Problem<C> p;
  std::vector<double> d_x(p.x.size());
  p.backward(p.probe.data(), d_x.data(), false);
  double const order =
      test::difference_order(p.x.data(), p.x.size(), [&] { return p.value(); }, d_x);
  CHECK(order > 1.9);
  CHECK(order < 2.1);
}

TEST_CASE("reference pointwise: each function of a chain draws under its own layer") {
  using Op = op::Pointwise<Chain<Dropout<0.5>, Dropout<0.5>>>;
  StepState state;
  state.seed = 12;
  state.forward = 34;
  state.first_sample = 56;
  std::vector<double> const x(std::size_t(batch * size), 1.0);
  std::vector<double> y(x.size());
  test::run<Op, Double>(Op::Forward<Double>{batch, size, x.data(), y.data(), {&state, 7}});
  bool once = false;
  for (std::size_t i = 0; i < y.size(); ++i) {
    auto const draw = [&](unsigned position) {
      return random_uniform(12, 34, position, 56 + i / size, std::uint32_t(i % size)) < 0.5f;
    };
    CHECK(y[i] == (draw(7) || draw(8) ? 0 : 4));
    once = once || draw(7) != draw(8);
  }
  CHECK(once);
  test::run<Op, Double>(Op::Forward<Double>{batch, size, x.data(), y.data(), {}});
  CHECK(y == x);
}

TEST_CASE("reference add: by hand, the chain's input kept where asked") {
  std::vector<double> const a{1, -2, 3, 4}, b{10, 1, -3.5, 0.25};
  std::vector<double> y(4), saved(4);
  test::run<op::Add<Chain<ReLU>>, Double>(
      AddWork<Chain<ReLU>>{2, 2, a.data(), b.data(), y.data(), saved.data(), {}});
  CHECK(saved == std::vector<double>{11, -1, -0.5, 4.25});
  CHECK(y == std::vector<double>{11, 0, 0, 4.25});
  test::run<op::Add<Chain<>>, Double>(
      AddWork<Chain<>>{2, 2, a.data(), b.data(), y.data(), nullptr, {}});
  CHECK(y == std::vector<double>{11, -1, -0.5, 4.25});
}

TEST_CASE("reference add: random functions draw under sample, layer and element") {
  using C = Chain<Tanh, Dropout<0.5>>;
  StepState state;
  state.seed = 3;
  auto const a = test::numbers(batch * size, 1), b = test::numbers(batch * size, 2);
  auto const both = test::sum(a, b);
  std::vector<double> y(a.size()), wanted(a.size());
  test::run<op::Add<C>, Double>(
      AddWork<C>{batch, size, a.data(), b.data(), y.data(), nullptr, {&state, 1}});
  test::run<op::Pointwise<C>, Double>(
      op::Pointwise<C>::Forward<Double>{batch, size, both.data(), wanted.data(), {&state, 1}});
  CHECK(y == wanted);
}

TEST_CASE("reference pointwise and add: a batch of nothing touches nothing") {
  using C = Chain<Tanh>;
  std::vector<double> v{5};
  double* const at = v.data();
  test::run<op::Pointwise<C>, Double>(op::Pointwise<C>::Forward<Double>{0, 1, at, at, {}});
  test::run<op::Pointwise<C>, Double>(
      op::Pointwise<C>::Backward<Double>{0, 1, at, at, at, false, {}});
  test::run<op::Add<C>, Double>(AddWork<C>{0, 1, at, at, at, at, {}});
  CHECK(v[0] == 5);
}

TEST_CASE_TEMPLATE("reference pointwise and add: evaluated in float and rounded once", S, bf16,
                   fp16) {
  using P = Mixed<S, float>;
  using C = Chain<test::UserMish, Tanh>;
  auto const x = test::rounded<S>(test::numbers(size, 1));
  auto const other = test::rounded<S>(test::numbers(size, 2));
  std::vector<S> y(x.size()), saved(x.size()), d_x = other;
  test::run<op::Pointwise<C>, P>(
      typename op::Pointwise<C>::template Forward<P>{1, size, x.data(), y.data(), {}});
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(y[i] == S(Tanh::value(test::UserMish::value(float(x[i])))));
  test::run<op::Pointwise<C>, P>(typename op::Pointwise<C>::template Backward<P>{
      1, size, x.data(), other.data(), d_x.data(), true, {}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    double const exact = double(other[i]) * (1 + C::derivative(double(x[i]), Element{}));
    CHECK(std::abs(double(d_x[i]) - exact) <= 0.51 * double(S::epsilon) * std::abs(exact));
  }
  test::run<op::Add<C>, P>(typename op::Add<C>::template Forward<P>{
      1, size, x.data(), other.data(), y.data(), saved.data(), {}});
  for (std::size_t i = 0; i < x.size(); ++i) {
    float const z = float(x[i]) + float(other[i]);
    CHECK(saved[i] == S(z));
    CHECK(y[i] == S(Tanh::value(test::UserMish::value(z))));  // of the sum, not of the rounded sum
  }
}

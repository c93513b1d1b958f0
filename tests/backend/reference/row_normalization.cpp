// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/row.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;
using phyllo::op::Chain;

namespace {

using Numbers = std::vector<double>;

// x (batch, positions, channels), forwards and backwards.
template <class C, class P = Full<double>> struct Problem {
  using Op = op::RowNormalization<C>;
  using S = typename P::storage;
  using A = typename P::accumulate;

  int batch, positions, channels;
  bool centered = true, scales = true, shifts = true;
  A epsilon = A(1e-3);
  StepState state;
  std::vector<S> x, scale, shift, y, probe;
  std::vector<A> statistics, d_scale, d_shift;

  Problem(int n, int s, int c)
      : batch(n),
        positions(s),
        channels(c),
        x(test::rounded<S>(test::numbers(n * s * c, 1))),
        scale(test::rounded<S>(test::numbers(c, 2))),
        shift(test::rounded<S>(test::numbers(c, 3))),
        y(x.size(), S(7.0f)),
        probe(test::rounded<S>(test::numbers(n * s * c, 4))),
        statistics(std::size_t(2 * n * s), A(7)),
        d_scale(std::size_t(c), A(1e9)),
        d_shift(std::size_t(c), A(1e9)) {
    state.seed = 5;
  }

  void forward(bool keeps = true) {
    test::run<Op, P>(typename Op::template Forward<P>{batch,
                                                      positions,
                                                      channels,
                                                      centered,
                                                      x.data(),
                                                      scales ? scale.data() : nullptr,
                                                      shifts ? shift.data() : nullptr,
                                                      epsilon,
                                                      y.data(),
                                                      keeps ? statistics.data() : nullptr,
                                                      {&state, 3}});
  }
  // With d_x = nullptr the gradients of the parameters only, and the other way about.
  void backward(S const* d_y, S* d_x, bool accumulate, bool of_parameters = true) {
    test::run<Op, P>(typename Op::template Backward<P>{batch,
                                                       positions,
                                                       channels,
                                                       centered,
                                                       x.data(),
                                                       d_y,
                                                       scales ? scale.data() : nullptr,
                                                       shifts ? shift.data() : nullptr,
                                                       statistics.data(),
                                                       d_x,
                                                       accumulate,
                                                       nullptr,
                                                       of_parameters ? d_scale.data() : nullptr,
                                                       of_parameters ? d_shift.data() : nullptr,
                                                       {&state, 3}});
  }
};

}  // namespace

TEST_CASE("reference row normalization: two rows by hand, with their mean and without") {
  Problem<Chain<>> p(1, 2, 2);
  p.x = {1, 3, 14, 30};
  p.scale = {1, 2};
  p.shift = {0, 5};
  p.epsilon = 0;
  p.forward();
  CHECK(p.statistics == Numbers{2, 1, 22, 0.125});
  CHECK(p.y == Numbers{-1, 7, -1, 7});
  p.scales = p.shifts = false;
  p.forward();
  CHECK(p.y == Numbers{-1, 1, -1, 1});

  p.centered = false;
  p.x = {0, 0, -4, 4};
  p.epsilon = 9;  // deviations 3 and 5
  p.scales = true;
  p.forward();
  CHECK(test::largest_difference(p.statistics, {0, 1.0 / 3, 0, 0.2}) < 1e-16);
  CHECK(test::largest_difference(p.y, {0, 0, -0.8, 1.6}) < 1e-15);
  auto const before = p.statistics;
  p.x[2] = 100;
  p.forward(false);
  CHECK(p.statistics == before);
}

TEST_CASE("reference row normalization: gradients by hand") {
  // x_hat = -1, 1: with its mean a row of two has the gradient zero at epsilon = 0.
  Problem<Chain<>> p(1, 1, 2);
  p.x = {1, 3};
  p.scale = {1, 2};
  p.epsilon = 0;
  p.forward();
  Numbers d_x(2, 1e9);
  Numbers const d_y{3, 5};
  p.backward(d_y.data(), d_x.data(), false);
  CHECK(p.d_scale == Numbers{-3, 5});
  CHECK(p.d_shift == Numbers{3, 5});
  CHECK(d_x == Numbers{0, 0});
  // Without: x = 1, 7, deviation 5, h = 3, 10, mean of h x_hat = (0.6 + 14) / 2.
  p.centered = false;
  p.x = {1, 7};
  p.forward();
  p.backward(d_y.data(), d_x.data(), false);
  CHECK(test::largest_difference(p.d_scale, {0.6, 7}) < 1e-15);
  CHECK(test::largest_difference(d_x, {(3 - 0.2 * 7.3) / 5, (10 - 1.4 * 7.3) / 5}) < 1e-15);
}

TEST_CASE("reference row normalization: one channel is its shift; no rows have no gradient") {
  Problem<Chain<>> one(1, 2, 1);
  one.forward();
  CHECK(one.y == Numbers(2, one.shift[0]));
  Problem<Chain<Tanh>> nothing(0, 4, 2);
  nothing.forward();
  Numbers d_x{9};
  nothing.backward(nothing.probe.data(), d_x.data(), false);
  CHECK(nothing.d_scale == Numbers(2, 0.0));
  CHECK(nothing.d_shift == Numbers(2, 0.0));
  CHECK(d_x == Numbers{9});
}

TEST_CASE("reference row normalization: a large mean does not cancel the variance away") {
  Problem<Chain<>> p(1, 1, 4);
  p.x = {1e8 + 1, 1e8 - 1, 1e8 + 1, 1e8 - 1};
  p.scales = p.shifts = false;
  p.epsilon = 0;
  p.forward();
  CHECK(p.y == Numbers{1, -1, 1, -1});
}

TEST_CASE_TEMPLATE("reference row normalization: gradients are central differences", C, Chain<>,
                   Chain<ReLU>, Chain<Tanh>, Chain<test::UserMish>, Chain<Dropout<0.4>>,
                   Chain<Dropout<0.4>, Tanh>) {
  for (int variant = 0; variant < 6; ++variant) {
    CAPTURE(variant);
    Problem<C> p(3, variant % 2 == 0 ? 4 : 1, 3 + variant);
    Problem<Chain<>> input(p.batch, p.positions, p.channels);
    p.centered = input.centered = variant < 3;
    p.scales = input.scales = variant % 3 < 2;
    p.shifts = input.shifts = variant % 3 < 1;
    auto const value = [&] {
      p.forward();
      return test::dot(p.probe, p.y);
    };
    // The chain's input, which the kinks of ReLU have to be away from.
    input.forward();
    REQUIRE(test::away_from_zero(input.y));

    value();
    Numbers d_x(p.x.size(), 1e9);
    p.backward(p.probe.data(), d_x.data(), false);
    auto const d_scale = p.d_scale, d_shift = p.d_shift;
    auto const added_to = test::numbers(int(p.x.size()), 9);
    auto added = added_to, in_place = p.probe;
    p.backward(p.probe.data(), added.data(), true, false);
    p.backward(in_place.data(), in_place.data(), false);
    CHECK(test::largest_difference(added, test::sum(d_x, added_to)) < 1e-14);
    CHECK(in_place == d_x);
    CHECK(p.d_scale == d_scale);
    p.backward(p.probe.data(), nullptr, false);
    CHECK(p.d_scale == d_scale);
    CHECK(p.d_shift == d_shift);

    CHECK(test::relative_error(d_x, test::central_differences(p.x.data(), p.x.size(), value)) <=
          1e-6);
    if (p.scales)
      CHECK(test::relative_error(
                d_scale, test::central_differences(p.scale.data(), p.scale.size(), value)) <= 1e-6);
    if (p.shifts)
      CHECK(test::relative_error(
                d_shift, test::central_differences(p.shift.data(), p.shift.size(), value)) <= 1e-6);
  }
}

TEST_CASE_TEMPLATE("reference row normalization: sixteen bits stay near double", S, bf16, fp16) {
  using C = Chain<test::UserMish, Tanh>;
  Problem<C, Mixed<S, float>> p(3, 4, 5);
  Problem<C> exact(3, 4, 5);
  exact.x = test::widened(p.x);
  exact.scale = test::widened(p.scale);
  exact.shift = test::widened(p.shift);
  exact.probe = test::widened(p.probe);
  p.forward();
  exact.forward();
  double const bound = double(S::epsilon);
  CHECK(test::relative_error(exact.y, test::widened(p.y)) < bound);
  CHECK(test::relative_error(exact.statistics, test::widened(p.statistics)) < 1e-5);
  std::vector<S> d_x(p.x.size());
  Numbers exact_x(exact.x.size());
  p.backward(p.probe.data(), d_x.data(), false);
  exact.backward(exact.probe.data(), exact_x.data(), false);
  CHECK(test::relative_error(exact_x, test::widened(d_x)) < bound);
  CHECK(test::relative_error(exact.d_scale, test::widened(p.d_scale)) < 1e-5);
  CHECK(test::relative_error(exact.d_shift, test::widened(p.d_shift)) < 1e-5);
}

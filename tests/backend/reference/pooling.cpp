// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <finite_difference.hpp>
#include <limits>
#include <phyllo/backend/reference/pooling.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;

namespace {

using Double = Full<double>;
using Maximum = op::Pooling<op::PoolingKind::maximum>;
using Average = op::Pooling<op::PoolingKind::average>;
using Numbers = std::vector<double>;

template <class Op>
Numbers forward(int batch, Shape input, Window const& window, Numbers const& x) {
  Shape const output = window.output(input, input.channels);
  Numbers y(std::size_t(batch * output.size()), 1e9);
  test::run<Op, Double>(
      typename Op::template Forward<Double>{batch, input, output, window, x.data(), y.data()});
  return y;
}

template <class Op>
Numbers backward(int batch, Shape input, Window const& window, Numbers const& x, Numbers const& d_y,
                 Numbers d_x, bool accumulate) {
  test::run<Op, Double>(typename Op::template Backward<Double>{
      batch, input, window.output(input, input.channels), window,
      Op::kind == op::PoolingKind::maximum ? x.data() : nullptr, d_y.data(), d_x.data(),
      accumulate});
  return d_x;
}

}  // namespace

TEST_CASE("reference pooling: padding is below every number for a maximum, and zero for a mean") {
  Shape const image{1, 3, 3};
  Window const window{{1, 2, 2}, {1, 2, 2}, {0, 1, 1}};
  Numbers const x{-1, -2, -3, -4, -5, -6, -7, -8, -9};
  CHECK(forward<Maximum>(1, image, window, x) == Numbers{-1, -2, -4, -5});
  CHECK(forward<Average>(1, image, window, x) == Numbers{-0.25, -1.25, -2.75, -7});
  CHECK(backward<Maximum>(1, image, window, x, {1, 2, 3, 4}, Numbers(9, 7), false) ==
        Numbers{1, 2, 0, 3, 4, 0, 0, 0, 0});
  CHECK(backward<Average>(1, image, window, x, {4, 8, 12, 16}, Numbers(9, 7), true) ==
        Numbers{8, 9, 9, 10, 11, 11, 10, 11, 11});
}

TEST_CASE("reference pooling: channels stay apart and windows may overlap") {
  Window const window{{1, 1, 2}, {1, 1, 1}, {0, 0, 0}};
  Numbers const x{1, 6, 2, 5, 3, 4};  // (3 positions, 2 channels)
  CHECK(forward<Maximum>(1, {2, 3}, window, x) == Numbers{2, 6, 3, 5});
  CHECK(forward<Average>(1, {2, 3}, window, x) == Numbers{1.5, 5.5, 2.5, 4.5});
  Window const all{{1, 1, 3}, {1, 1, 1}, {0, 0, 0}};
  CHECK(forward<Average>(1, {2, 3}, all, x) == Numbers{2, 5});
}

TEST_CASE("reference pooling: the first of equal maxima takes the gradient, a NaN is the largest") {
  Window const window{{1, 2, 2}, {1, 2, 2}, {0, 0, 0}};
  double const nan = std::numeric_limits<double>::quiet_NaN();
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(backward<Maximum>(1, {1, 2, 2}, window, {0, 3, 3, 3}, {5}, Numbers(4), false) ==
        Numbers{0, 5, 0, 0});
  CHECK(std::isnan(forward<Maximum>(1, {1, 2, 2}, window, {9, nan, 1, infinity})[0]));
  CHECK(backward<Maximum>(1, {1, 2, 2}, window, {9, nan, nan, 10}, {5}, Numbers(4), false) ==
        Numbers{0, 5, 0, 0});
  CHECK(forward<Maximum>(1, {1, 2, 2}, window, Numbers(4, -infinity))[0] == -infinity);
}

TEST_CASE_TEMPLATE("reference pooling: gradients are central differences", Op, Maximum, Average) {
  struct {
    Shape input;
    Window window;
  } const cases[] = {{{3, 9}, {{1, 1, 3}, {1, 1, 2}, {0, 0, 1}}},
                     {{2, 6, 5}, {{1, 3, 2}, {1, 1, 2}, {0, 1, 1}}},
                     {{1, 5, 5}, {{1, 2, 2}, {1, 3, 3}, {0, 0, 0}}},
                     {{2, 3, 4, 3}, {{2, 3, 2}, {1, 2, 1}, {1, 1, 0}}},
                     {{2, 3, 3}, {{1, 3, 3}, {1, 1, 1}, {0, 0, 0}}}};
  int const batch = 2;
  for (auto const& c : cases) {
    CAPTURE(c.input.size());
    auto x = test::separated_numbers(batch * c.input.size(), 1);
    auto const probe = test::numbers(batch * c.window.output(c.input, c.input.channels).size(), 2);
    auto const before = test::numbers(batch * c.input.size(), 3);
    auto const value = [&] { return test::dot(probe, forward<Op>(batch, c.input, c.window, x)); };
    auto const d_x =
        backward<Op>(batch, c.input, c.window, x, probe, Numbers(x.size(), 1e9), false);
    CHECK(test::relative_error(d_x, test::central_differences(x.data(), x.size(), value)) <= 1e-6);
    auto const added = backward<Op>(batch, c.input, c.window, x, probe, before, true);
    CHECK(test::largest_difference(added, test::sum(d_x, before)) < 1e-14);
  }
}

TEST_CASE_TEMPLATE("reference pooling: a batch of nothing touches nothing", Op, Maximum, Average) {
  Window const window{{1, 1, 2}, {1, 1, 2}, {0, 0, 0}};
  CHECK(forward<Op>(0, {1, 4}, window, {1, 2, 3, 4}).empty());
  CHECK(backward<Op>(0, {1, 4}, window, {1, 2, 3, 4}, {}, {5}, false) == Numbers{5});
}

TEST_CASE_TEMPLATE("reference pooling: sixteen bits are added in float and rounded once", S, bf16,
                   fp16) {
  using P = Mixed<S, float>;
  float const large = 2 / S::epsilon;
  Window const window{{1, 1, 4}, {1, 1, 1}, {0, 0, 0}};
  std::vector<S> const x{S(large), S(2.0f), S(1.0f), S(1.0f)};
  std::vector<S> y(1), d_x(4, S(1.0f));
  test::run<Average, P>(Average::Forward<P>{1, {1, 4}, {1, 1}, window, x.data(), y.data()});
  CHECK(float(y[0]) == large / 4 + 1);
  test::run<Maximum, P>(Maximum::Forward<P>{1, {1, 4}, {1, 1}, window, x.data(), y.data()});
  CHECK(float(y[0]) == large);
  test::run<Maximum, P>(
      Maximum::Backward<P>{1, {1, 4}, {1, 1}, window, x.data(), y.data(), d_x.data(), true});
  CHECK(test::widened(d_x) == Numbers{double(S(large + 1)), 1, 1, 1});
  test::run<Average, P>(
      Average::Backward<P>{1, {1, 4}, {1, 1}, window, nullptr, y.data(), d_x.data(), false});
  CHECK(test::widened(d_x) == Numbers(4, double(large / 4)));
}

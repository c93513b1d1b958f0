// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/row.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;

namespace {

using Double = Full<double>;
using Numbers = std::vector<double>;

Numbers forward(long rows, Numbers const& x) {
  Numbers y(x.size());
  int const channels = rows == 0 ? 1 : int(long(x.size()) / rows);
  test::run<op::Softmax, Double>(op::Softmax::Forward<Double>{rows, channels, x.data(), y.data()});
  return y;
}

}  // namespace

TEST_CASE("reference softmax: two rows by hand") {
  auto const y = forward(2, {0, std::log(2.0), std::log(3.0), 0});
  CHECK(test::largest_difference(y, {1.0 / 3, 2.0 / 3, 0.75, 0.25}) < 1e-15);
  Numbers d_x(4);
  Numbers const d_y{3, 0, 0, 16};
  test::run<op::Softmax, Double>(
      op::Softmax::Backward<Double>{2, 2, y.data(), d_y.data(), d_x.data(), false});
  CHECK(test::largest_difference(d_x, {2.0 / 3, -2.0 / 3, -3, 3}) < 1e-14);
}

TEST_CASE("reference softmax: large inputs neither overflow nor vanish; one channel is one") {
  auto const y = forward(2, {1000, 1000 - std::log(2.0), -1000, -1000});
  CHECK(test::largest_difference(y, {2.0 / 3, 1.0 / 3, 0.5, 0.5}) < 1e-13);
  CHECK(forward(2, {5, -5}) == Numbers{1, 1});
  CHECK(forward(1, {0, -2000}) == Numbers{1, 0});
}

TEST_CASE("reference softmax: gradients are central differences") {
  int const rows = 4, channels = 5, size = rows * channels;
  auto x = test::numbers(size, 1);
  for (double& v : x) v *= 3;
  auto const probe = test::numbers(size, 2), before = test::numbers(size, 3);
  auto const value = [&] { return test::dot(probe, forward(rows, x)); };
  auto const y = forward(rows, x);
  Numbers d_x(x.size(), 1e9), added = before;
  auto const backward = [&](double const* d_y, double* to, bool accumulate) {
    test::run<op::Softmax, Double>(
        op::Softmax::Backward<Double>{rows, channels, y.data(), d_y, to, accumulate});
  };
  backward(probe.data(), d_x.data(), false);
  CHECK(test::relative_error(d_x, test::central_differences(x.data(), x.size(), value)) <= 1e-6);
  double const order = test::difference_order(x.data(), x.size(), value, d_x);
  CHECK(order > 1.9);
  CHECK(order < 2.1);
  backward(probe.data(), added.data(), true);
  CHECK(test::largest_difference(added, test::sum(d_x, before)) < 1e-15);
}

TEST_CASE("reference softmax: no rows touch nothing") {
  Numbers v{5};
  double* const at = v.data();
  test::run<op::Softmax, Double>(op::Softmax::Forward<Double>{0, 1, at, at});
  test::run<op::Softmax, Double>(op::Softmax::Backward<Double>{0, 1, at, at, at, false});
  CHECK(v[0] == 5);
}

TEST_CASE_TEMPLATE("reference softmax: sixteen bits are evaluated in float and rounded once", S,
                   bf16, fp16) {
  using P = Mixed<S, float>;
  auto const x = test::rounded<S>(test::numbers(6, 1));
  auto const d_y = test::rounded<S>(test::numbers(6, 2));
  std::vector<S> y(6), d_x(6);
  test::run<op::Softmax, P>(op::Softmax::Forward<P>{2, 3, x.data(), y.data()});
  test::run<op::Softmax, P>(
      op::Softmax::Backward<P>{2, 3, y.data(), d_y.data(), d_x.data(), false});
  auto const exact = forward(2, test::widened(x));
  Numbers const kept = test::widened(y), gradient = test::widened(d_y);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(std::abs(kept[i] - exact[i]) <= 0.51 * double(S::epsilon) * exact[i]);
    std::size_t const row = i / 3 * 3;
    double mean = 0;
    for (std::size_t k = row; k < row + 3; ++k) mean += kept[k] * gradient[k];
    double const wanted = kept[i] * (gradient[i] - mean);
    CHECK(std::abs(double(d_x[i]) - wanted) <= 0.51 * double(S::epsilon) * std::abs(wanted) + 1e-6);
  }
}

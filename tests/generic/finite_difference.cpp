// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <cmath>
#include <finite_difference.hpp>
#include <vector>

namespace test = phyllo::test;

namespace {

// f(x) = sum of exp(x_i) x_(i+1), with variables of sizes 1e-3 to 30.
struct Exponentials {
  std::vector<double> x{0.3, -1.2, 1e-3, 3, 30};

  double value() const {
    double sum = 0;
    for (std::size_t i = 0; i + 1 < x.size(); ++i) sum += std::exp(x[i]) * x[i + 1];
    return sum;
  }
  std::vector<double> gradient() const {
    std::vector<double> g(x.size());
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      g[i] += std::exp(x[i]) * x[i + 1];
      g[i + 1] += std::exp(x[i]);
    }
    return g;
  }
};

}  // namespace

TEST_CASE("finite differences: a right gradient passes and the variables come back") {
  Exponentials f;
  auto const before = f.x;
  auto const value = [&] { return f.value(); };
  auto const differences = test::central_differences(f.x.data(), f.x.size(), value);
  CHECK(f.x == before);
  CHECK(test::relative_error(f.gradient(), differences) < 1e-8);
  CHECK(test::difference_order(f.x.data(), f.x.size(), value, f.gradient()) ==
        doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("finite differences: a gradient that is wrong by 1e-5 is caught, by size and by order") {
  Exponentials f;
  auto const value = [&] { return f.value(); };
  auto wrong = f.gradient();
  for (double& g : wrong) g *= 1 + 1e-5;
  auto const differences = test::central_differences(f.x.data(), f.x.size(), value);
  CHECK(test::relative_error(wrong, differences) > 1e-6);
  CHECK(test::difference_order(f.x.data(), f.x.size(), value, wrong) < 1.5);
}

TEST_CASE("finite differences: comparing nothing passes no bound") {
  CHECK(std::isnan(test::relative_error({}, {})));
  CHECK(std::isnan(test::relative_error({0, 0}, {0, 0})));
  CHECK(std::isnan(test::relative_error({1, 2}, {1})));
  CHECK(test::relative_error({3, 4}, {3, 4}) == 0);
  CHECK(test::relative_error({3, 4}, {3, 9}) == 1);
}

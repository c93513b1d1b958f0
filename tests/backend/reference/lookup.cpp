// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <cstdint>
#include <finite_difference.hpp>
#include <limits>
#include <phyllo/backend/reference/lookup.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;

namespace {

using Double = Full<double>;
using Numbers = std::vector<double>;
using Indices = std::vector<std::int32_t>;

Numbers forward(Indices const& x, int entries, Numbers const& weight) {
  int const channels = int(weight.size()) / entries;
  Numbers y(x.size() * std::size_t(channels), 7);
  test::run<op::Lookup, Double>(op::Lookup::Forward<Double>{long(x.size()), entries, channels,
                                                            x.data(), weight.data(), y.data()});
  return y;
}
Numbers backward(Indices const& x, int entries, Numbers const& d_y, int channels) {
  Numbers d_weight(std::size_t(entries * channels), 1e9);
  test::run<op::Lookup, Double>(op::Lookup::BackwardParameters<Double>{
      long(x.size()), entries, channels, x.data(), d_y.data(), d_weight.data()});
  return d_weight;
}

}  // namespace

TEST_CASE("reference lookup: rows by hand, forwards and backwards") {
  CHECK(forward({2, 0, 2}, 3, {1, 2, 3, 4, 5, 6}) == Numbers{5, 6, 1, 2, 5, 6});
  CHECK(backward({2, 0, 2}, 3, {1, 2, 10, 20, 100, 200}, 2) == Numbers{10, 20, 0, 0, 101, 202});
  CHECK(backward({}, 2, {}, 1) == Numbers{0, 0});
}

TEST_CASE("reference lookup: an index outside of the table is not a number and has no gradient") {
  using Limits = std::numeric_limits<std::int32_t>;
  Indices const x{-1, 1, 2, Limits::min(), Limits::max(), 0};
  auto const y = forward(x, 2, {3, 4});
  for (std::size_t r = 0; r < x.size(); ++r) CHECK(std::isnan(y[r]) == (x[r] < 0 || x[r] > 1));
  CHECK(y[1] == 4);
  CHECK(y[5] == 3);
  CHECK(backward(x, 2, {NAN, 5, NAN, NAN, NAN, 6}, 1) == Numbers{6, 5});
}

TEST_CASE("reference lookup: gradients are central differences") {
  Indices const x{1, 3, 3, 0, 1, 1};
  auto weight = test::numbers(4 * 3, 1);
  auto const probe = test::numbers(6 * 3, 2);
  auto const value = [&] { return test::dot(probe, forward(x, 4, weight)); };
  auto const d_weight = backward(x, 4, probe, 3);
  CHECK(test::relative_error(
            d_weight, test::central_differences(weight.data(), weight.size(), value)) <= 1e-6);
}

TEST_CASE_TEMPLATE("reference lookup: sixteen bits are copied, their gradients added in float", S,
                   bf16, fp16) {
  using P = Mixed<S, float>;
  std::vector<S> const weight{S(0.1f), S(-3.0f)}, d_y(4, S(1.0f + float(S::epsilon)));
  std::vector<S> y(4);
  std::vector<float> d_weight(2);
  Indices const x{0, 1, 5, 0};
  test::run<op::Lookup, P>(op::Lookup::Forward<P>{4, 2, 1, x.data(), weight.data(), y.data()});
  CHECK(y[0] == weight[0]);
  CHECK(y[1] == weight[1]);
  CHECK(std::isnan(float(y[2])));
  test::run<op::Lookup, P>(
      op::Lookup::BackwardParameters<P>{4, 2, 1, x.data(), d_y.data(), d_weight.data()});
  CHECK(d_weight[0] == 2 * float(d_y[0]));
  CHECK(d_weight[1] == float(d_y[0]));
}

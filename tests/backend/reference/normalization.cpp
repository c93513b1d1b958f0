// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <backend/reference/probe.hpp>
#include <cmath>
#include <finite_difference.hpp>
#include <phyllo/backend/reference/normalization.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/policy/precision.hpp>
#include <vector>

using namespace phyllo;
using phyllo::op::Chain;

namespace {

using Numbers = std::vector<double>;

// Training, forwards and backwards, of x (batch, positions, channels).
template <class C, class P = Full<double>> struct Problem {
  using Op = op::Normalization<C>;
  using S = typename P::storage;
  using A = typename P::accumulate;

  int batch, positions, channels;
  StepState state;
  Randomness random{&state, 3};
  std::vector<S> x, scale, shift, y, probe;
  std::vector<A> partial, mean_sums, square_sums, mean, inverse_deviation, sums;
  std::vector<float> running_mean, running_variance;
  float epsilon = 1e-3f, momentum = 0.25f;

  Problem(int n, int s, int c)
      : batch(n),
        positions(s),
        channels(c),
        x(test::rounded<S>(test::numbers(n * s * c, 1))),
        scale(test::rounded<S>(test::numbers(c, 2))),
        shift(test::rounded<S>(test::numbers(c, 3))),
        y(x.size()),
        probe(test::rounded<S>(test::numbers(n * s * c, 4))),
        partial(std::size_t(Op::row_blocks * 2 * c)),
        mean_sums(std::size_t(c + 1), A(7)),
        square_sums(std::size_t(c), A(7)),
        mean(std::size_t(c)),
        inverse_deviation(std::size_t(c)),
        sums(std::size_t(2 * c), A(7)),
        running_mean(std::size_t(c), 0.0f),
        running_variance(std::size_t(c), 1.0f) {
    state.seed = 5;
  }

  void sum() {
    test::run<Op, P>(typename Op::template Sum<P>{batch, positions, channels, x.data(), nullptr,
                                                  partial.data(), mean_sums.data()});
  }
  void centered_sum() {
    test::run<Op, P>(typename Op::template Sum<P>{batch, positions, channels, x.data(),
                                                  mean_sums.data(), partial.data(),
                                                  square_sums.data()});
  }
  void finish() {
    test::run<Op, P>(typename Op::template Finish<P>{
        channels, mean_sums.data(), square_sums.data(), mean.data(), inverse_deviation.data(),
        running_mean.data(), running_variance.data(), momentum, epsilon});
  }
  void normalize(bool training) {
    test::run<Op, P>(typename Op::template Forward<P>{
        batch, positions, channels, x.data(), scale.data(), shift.data(),
        training ? mean.data() : nullptr, training ? inverse_deviation.data() : nullptr,
        running_mean.data(), running_variance.data(), epsilon, y.data(), random});
  }
  void forward() {
    sum();
    centered_sum();
    finish();
    normalize(true);
  }
  void backward_sums(A* d_scale, A* d_shift) {
    test::run<Op, P>(typename Op::template BackwardSums<P>{
        batch, positions, channels, x.data(), probe.data(), scale.data(), shift.data(), mean.data(),
        inverse_deviation.data(), partial.data(), sums.data(), d_scale, d_shift, random});
  }
  void backward(S const* d_y, S* d_x, bool accumulate) {
    test::run<Op, P>(typename Op::template Backward<P>{
        batch, positions, channels, x.data(), d_y, scale.data(), shift.data(), mean.data(),
        inverse_deviation.data(), sums.data(), mean_sums.data(), d_x, accumulate, random});
  }
};

}  // namespace

TEST_CASE("reference normalization: training and running statistics by hand") {
  Problem<Chain<>> p(2, 1, 2);
  p.x = {1, 10, 3, 18};
  p.scale = {1, 2};
  p.shift = {0, 5};
  p.epsilon = 0;
  p.running_mean = {4, 8};
  p.running_variance = {1, 4};
  p.forward();
  CHECK(p.mean_sums == Numbers{4, 28, 2});
  CHECK(p.square_sums == Numbers{2, 32});
  CHECK(p.mean == Numbers{2, 14});
  CHECK(p.inverse_deviation == Numbers{1, 0.25});
  CHECK(p.y == Numbers{-1, 3, 1, 7});
  // A quarter of the batch's mean and of its unbiased variance 2 and 32.
  CHECK(p.running_mean == std::vector<float>{3.5f, 9.5f});
  CHECK(p.running_variance == std::vector<float>{1.25f, 11});

  p.running_mean = {1, 10};
  p.running_variance = {3, 15};
  p.epsilon = 1;
  p.normalize(false);
  CHECK(p.y == Numbers{0, 5, 1, 9});
}

TEST_CASE("reference normalization: one row has no deviation, and a batch of nothing no effect") {
  Problem<Chain<>> one(1, 1, 2);
  one.running_mean = {3, 4};
  one.running_variance = {5, 6};
  one.forward();
  CHECK(one.y == one.shift);
  CHECK(one.running_mean == std::vector<float>{3, 4});
  CHECK(one.running_variance == std::vector<float>{5, 6});

  Problem<Chain<Tanh>> nothing(0, 4, 2);
  nothing.mean = {1, 2};
  nothing.inverse_deviation = {3, 4};
  nothing.forward();
  CHECK(nothing.mean_sums == Numbers(3, 0.0));
  CHECK(nothing.square_sums == Numbers(2, 0.0));
  CHECK(nothing.mean == Numbers{1, 2});
  CHECK(nothing.inverse_deviation == Numbers{3, 4});
  CHECK(nothing.running_mean == std::vector<float>{0, 0});
  CHECK(nothing.running_variance == std::vector<float>{1, 1});
  Numbers d_scale(2, 9), d_shift(2, 9), d_x{9};
  nothing.backward_sums(d_scale.data(), d_shift.data());
  nothing.backward(nothing.probe.data(), d_x.data(), false);
  CHECK(nothing.sums == Numbers(4, 0.0));
  CHECK(d_scale == Numbers(2, 0.0));
  CHECK(d_shift == Numbers(2, 0.0));
  CHECK(d_x == Numbers{9});
}

TEST_CASE("reference normalization: a large mean does not cancel the variance away") {
  Problem<Chain<>> p(4, 1, 1);
  p.x = {1e8 + 1, 1e8 - 1, 1e8 + 1, 1e8 - 1};
  p.scale = {1};
  p.shift = {0};
  p.epsilon = 0;
  p.forward();
  CHECK(p.y == Numbers{1, -1, 1, -1});
}

TEST_CASE_TEMPLATE("reference normalization: gradients are central differences", C, Chain<>,
                   Chain<ReLU>, Chain<Tanh>, Chain<test::UserMish>, Chain<Dropout<0.4>>,
                   Chain<Tanh, test::UserMish>, Chain<test::UserMish, ReLU>,
                   Chain<Dropout<0.4>, Tanh>) {
  struct {
    int batch, positions, channels;
  } const cases[] = {{3, 4, 2}, {5, 1, 3}, {1, 7, 1}};
  for (auto const& c : cases) {
    CAPTURE(c.channels);
    Problem<C> p(c.batch, c.positions, c.channels);
    auto const value = [&] {
      p.forward();
      return test::dot(p.probe, p.y);
    };
    // The chain's input, which the kinks of ReLU have to be away from.
    Problem<Chain<>> input(c.batch, c.positions, c.channels);
    input.forward();
    REQUIRE(test::away_from_zero(input.y));

    value();
    Numbers d_x(p.x.size(), 1e9), d_scale(p.scale.size(), 1e9), d_shift(p.shift.size(), 1e9);
    p.backward_sums(d_scale.data(), d_shift.data());
    p.backward(p.probe.data(), d_x.data(), false);
    auto const added_to = test::numbers(int(p.x.size()), 9);
    auto added = added_to, in_place = p.probe;
    p.backward(p.probe.data(), added.data(), true);
    p.backward(in_place.data(), in_place.data(), false);
    CHECK(test::largest_difference(added, test::sum(d_x, added_to)) < 1e-14);
    CHECK(in_place == d_x);
    // The sums without the gradients, where the parameters are not trained.
    auto const sums = p.sums;
    p.backward_sums(nullptr, nullptr);
    CHECK(p.sums == sums);

    CHECK(test::relative_error(d_x, test::central_differences(p.x.data(), p.x.size(), value)) <=
          1e-6);
    CHECK(test::relative_error(
              d_scale, test::central_differences(p.scale.data(), p.scale.size(), value)) <= 1e-6);
    CHECK(test::relative_error(
              d_shift, test::central_differences(p.shift.data(), p.shift.size(), value)) <= 1e-6);
  }
}

TEST_CASE("reference normalization: two parts that add their sums are one batch") {
  using C = Chain<Tanh>;
  int const positions = 3, channels = 2, row = positions * channels;
  Problem<C> whole(5, positions, channels);
  Numbers d_scale(2), d_shift(2), d_x(whole.x.size());
  whole.forward();
  whole.backward_sums(d_scale.data(), d_shift.data());
  whole.backward(whole.probe.data(), d_x.data(), false);

  Problem<C> part[] = {{2, positions, channels}, {3, positions, channels}};
  part[1].x.assign(whole.x.begin() + 2 * row, whole.x.end());
  part[1].probe.assign(whole.probe.begin() + 2 * row, whole.probe.end());
  auto const reduce = [&](Numbers Problem<C>::* sums) {
    part[0].*sums = part[1].*sums = test::sum(part[0].*sums, part[1].*sums);
  };
  for (auto& p : part) p.sum();
  reduce(&Problem<C>::mean_sums);
  for (auto& p : part) p.centered_sum();
  reduce(&Problem<C>::square_sums);
  Numbers d_scale_of[2] = {Numbers(2), Numbers(2)}, d_shift_of[2] = {Numbers(2), Numbers(2)};
  for (int i = 0; i < 2; ++i) {
    part[i].finish();
    part[i].normalize(true);
    part[i].backward_sums(d_scale_of[i].data(), d_shift_of[i].data());
  }
  reduce(&Problem<C>::sums);
  Numbers y, d_x_of_both;
  for (auto& p : part) {
    Numbers d(p.x.size());
    p.backward(p.probe.data(), d.data(), false);
    y.insert(y.end(), p.y.begin(), p.y.end());
    d_x_of_both.insert(d_x_of_both.end(), d.begin(), d.end());
  }
  CHECK(test::largest_difference(y, whole.y) < 1e-14);
  CHECK(test::largest_difference(d_x_of_both, d_x) < 1e-13);
  CHECK(test::largest_difference(test::sum(d_scale_of[0], d_scale_of[1]), d_scale) < 1e-13);
  CHECK(test::largest_difference(test::sum(d_shift_of[0], d_shift_of[1]), d_shift) < 1e-13);
  for (auto const& p : part)
    for (std::size_t c = 0; c < 2; ++c) {
      CHECK(p.running_mean[c] == doctest::Approx(whole.running_mean[c]).epsilon(1e-6));
      CHECK(p.running_variance[c] == doctest::Approx(whole.running_variance[c]).epsilon(1e-6));
    }
}

TEST_CASE_TEMPLATE("reference normalization: sixteen bits stay near double", S, bf16, fp16) {
  using C = Chain<test::UserMish, Tanh>;
  Problem<C, Mixed<S, float>> p(3, 4, 2);
  Problem<C> exact(3, 4, 2);
  exact.x = test::widened(p.x);
  exact.scale = test::widened(p.scale);
  exact.shift = test::widened(p.shift);
  exact.probe = test::widened(p.probe);
  p.forward();
  exact.forward();
  double const bound = double(S::epsilon);
  CHECK(test::relative_error(exact.y, test::widened(p.y)) < bound);
  std::vector<float> d_scale(2), d_shift(2);
  Numbers exact_scale(2), exact_shift(2), exact_x(exact.x.size());
  std::vector<S> d_x(p.x.size());
  p.backward_sums(d_scale.data(), d_shift.data());
  p.backward(p.probe.data(), d_x.data(), false);
  exact.backward_sums(exact_scale.data(), exact_shift.data());
  exact.backward(exact.probe.data(), exact_x.data(), false);
  CHECK(test::relative_error(exact_x, test::widened(d_x)) < bound);
  // Parameter gradients are floats: only their own rounding.
  CHECK(test::relative_error(exact_scale, test::widened(d_scale)) < 1e-5);
  CHECK(test::relative_error(exact_shift, test::widened(d_shift)) < 1e-5);
}

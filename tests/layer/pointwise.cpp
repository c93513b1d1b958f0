// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <initializer_list>
#include <phyllo/core/macros.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/op/chain.hpp>
#include <string>

#include <cmath>

namespace {

// A layer as a user writes it: nothing but a name and two functions.
struct Square : phyllo::Pointwise {
  static constexpr char const* name = "square";
  template <class T> PHYLLO_FUNCTION static T value(T x) { return x * x; }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) { return T(2) * x; }
};

struct Ramp : phyllo::Pointwise {
  [[maybe_unused]] static constexpr char const* name = "ramp";
  static constexpr auto activation = phyllo::Activation::rectifier;
  template <class T> PHYLLO_FUNCTION static T value(T x) { return x <= T(0) ? T(0) : x; }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) { return T(x > T(0)); }
};

}  // namespace

TEST_CASE("a chain of one layer has its activation, in a user's code as well") {
  using phyllo::Activation;
  using phyllo::op::Chain;
  CHECK(Chain<Ramp>::activation == Activation::rectifier);
  CHECK(Chain<phyllo::ReLU>::activation == Activation::rectifier);
  CHECK(Chain<Square>::activation == Activation::other);
  CHECK(Chain<>::activation == Activation::other);
  CHECK(Chain<Ramp, Ramp>::activation == Activation::other);
  CHECK(Chain<Ramp, Square>::activation == Activation::other);
}

TEST_CASE("a pointwise layer keeps shapes and is given its input unless it says otherwise") {
  static_assert(Square::role == phyllo::Role::pointwise);
  static_assert(Square::derivative_of == phyllo::Derivative::input);
  for (phyllo::Shape shape : {phyllo::Shape(4), phyllo::Shape(4, 5), phyllo::Shape(1, 2, 3, 4)}) {
    CHECK(Square::accepts(shape));
    CHECK(Square::output(shape) == shape);
  }
  CHECK(Square::derivative(3.0) == 6.0);
  CHECK(Square::value(3.0f) == 9.0f);
  CHECK(std::string(Square::name) == "square");
}

TEST_CASE("whole channels or samples are dropped, as often as their probability says") {
  using phyllo::op::Chain;
  phyllo::StepState state{};
  state.seed = 11;
  state.forward = 3;
  constexpr int samples = 4000, channels = 5, positions = 3;
  phyllo::Randomness const random{&state, 2, channels};
  auto const element = [&](int n, int p, int c) { return random.element(n, p * channels + c); };
  using Channels = Chain<phyllo::ChannelDropout<0.25>>;
  using Depth = Chain<phyllo::StochasticDepth<0.25>>;
  int kept = 0, kept_samples = 0, mixed = 0;
  for (int n = 0; n < samples; ++n) {
    int of_sample = 0;
    double const depth = Depth::value(3.0, element(n, 0, 0));
    kept_samples += depth != 0;
    for (int c = 0; c < channels; ++c) {
      double const first = Channels::value(3.0, element(n, 0, c));
      REQUIRE((first == 0 || first == 4));
      of_sample += first != 0;
      for (int p = 0; p < positions; ++p) {
        REQUIRE(Channels::value(3.0, element(n, p, c)) == first);
        REQUIRE(3.0 * Channels::derivative(0.0, element(n, p, c)) == first);
        REQUIRE(Depth::value(3.0, element(n, p, c)) == depth);
        REQUIRE(3.0 * Depth::derivative(0.0, element(n, p, c)) == depth);
      }
    }
    kept += of_sample;
    mixed += of_sample > 0 && of_sample < channels;
  }
  // Five deviations of a binomial distribution.
  CHECK(kept == doctest::Approx(0.75 * samples * channels).epsilon(0.021));
  CHECK(kept_samples == doctest::Approx(0.75 * samples).epsilon(0.046));
  CHECK(mixed > samples / 2);
  phyllo::Randomness const inference{nullptr, 2, channels};
  CHECK(Channels::value(3.0, inference.element(0, 1)) == 3.0);
}

TEST_CASE("AlphaDropout keeps mean zero and variance one of what it is given") {
  using Layer = phyllo::op::Chain<phyllo::AlphaDropout<0.3>>;
  phyllo::StepState state{};
  state.seed = 5;
  phyllo::Randomness const random{&state, 1};
  double sum = 0, squares = 0;
  constexpr int count = 200000;
  for (int i = 0; i < count; ++i) {
    double const x = i % 2 == 0 ? 1 : -1;
    double const y = Layer::value(x, random.element(i / 100, i % 100));
    sum += y;
    squares += y * y;
  }
  CHECK(std::abs(sum / count) < 0.012);
  CHECK(squares / count == doctest::Approx(1).epsilon(0.012));
}

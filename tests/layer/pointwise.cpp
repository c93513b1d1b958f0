// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <initializer_list>
#include <phyllo/core/macros.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/op/chain.hpp>
#include <string>

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

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What steps compute and move, against counts by hand.

#include <phyllo/fusion/cost.hpp>
#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

#include <doctest/doctest.h>

#include "networks/readme.hpp"

using namespace phyllo;

namespace {

template <class Net, Phase When, FusionLevel Level = FusionLevel::segment>
using Plan4 = Planned<Net, When, Level, 4>;

struct Two : Network<Input<3>, Linear<5>, GELU, Linear<2>> {};
struct Normed : Network<Input<4>, Linear<6>, BatchNorm<>, ReLU, Linear<2>> {};

}  // namespace

TEST_CASE("cost: a segment moves its input and its output only") {
  using Plan = Plan4<Two, Phase::inference>;
  static_assert(Plan::plan.size == 1);
  constexpr StepCost cost = step_cost<Plan>(0, 4, 4);
  static_assert(cost.flops == (2 * 15 + 5) + 5 + (2 * 10 + 2));
  static_assert(cost.bytes == (3 + 2) * 4);
  static_assert(cost.parameter_bytes == (15 + 5 + 10 + 2) * 4);
  static_assert(step_cost<Plan>(0, 2, 4).bytes == (3 + 2) * 2);
  // Without fusion every value between the layers is written and read.
  constexpr StepCost unfused = plan_cost<Plan4<Two, Phase::inference, FusionLevel::none>>(4, 4);
  CHECK(unfused.flops == cost.flops);
  CHECK(unfused.parameter_bytes == cost.parameter_bytes);
  CHECK(unfused.bytes == (3 + 5 + 5 + 5 + 5 + 2) * 4);
}

TEST_CASE("cost: training counts both halves") {
  using Plan = Plan4<Two, Phase::training, FusionLevel::epilogue>;
  static_assert(Plan::plan.size == 2);
  // Linear and GELU: x read and y written, the chain's input kept; backwards d_y and that input are
  // read, x again for the weights; the caller's input has no gradient.
  constexpr StepCost first = step_cost<Plan>(0, 4, 4);
  static_assert(first.flops == 2 * (2 * 15 + 5) + 5);
  static_assert(first.bytes == (3 + 5 + 5 + 5 + 5 + 3) * 4);
  static_assert(first.parameter_bytes == 2 * (15 + 5) * 4);
  // The second layer has no chain; its weights are read again for the gradient of x.
  constexpr StepCost second = step_cost<Plan>(1, 4, 4);
  static_assert(second.flops == 3 * (2 * 10 + 2));
  static_assert(second.bytes == (5 + 2 + 2 + 5 + 5) * 4);
  static_assert(second.parameter_bytes == (12 + 12 + 10) * 4);
  CHECK(step_cost<Plan>(1, 2, 4).parameter_bytes == (12 + 10) * 2 + 12 * 4);
  // One pass: the values between the layers are neither written nor read.
  constexpr StepCost whole = whole_step_cost<Two::program>(4, 4);
  CHECK(whole.flops == plan_cost<Plan>(4, 4).flops);
  CHECK(whole.bytes == 3 * 4);
  CHECK(whole.parameter_bytes == 2 * 32 * 4);
  // A segment: the same work, x read twice, y and its gradient written and read, the second weight
  // read again.
  using Segment = Plan4<Two, Phase::training>;
  static_assert(Segment::plan.size == 1);
  constexpr StepCost segment = step_cost<Segment>(0, 4, 4);
  static_assert(segment.flops == plan_cost<Plan>(4, 4).flops);
  static_assert(segment.bytes == (3 + 2 + 3 + 2) * 4);
  static_assert(segment.parameter_bytes == (2 * 32 + 10) * 4);
}

TEST_CASE("cost: a folded normalisation adds parameters and no values") {
  using Plan = Plan4<Normed, Phase::inference>;
  static_assert(Plan::plan.size == 2);
  constexpr StepCost cost = step_cost<Plan>(0, 4, 4);
  CHECK(cost.bytes == (4 + 6) * 4);
  CHECK(cost.parameter_bytes == (24 + 6 + 6 + 6) * 4);
}

TEST_CASE("cost: the floor names its ceiling") {
  StepCost const cost{.flops = 1000, .bytes = 100, .parameter_bytes = 50};
  Roofline const balanced{.flops = 1e9, .memory = 1e8};
  CHECK(floor_of(cost, balanced, 1).seconds == doctest::Approx(150 / 1e8));
  CHECK(floor_of(cost, balanced, 1).ceiling == std::string("memory"));
  Roofline const fast_memory{.flops = 1e9, .memory = 1e9, .unit = "bf16"};
  CHECK(floor_of(cost, fast_memory, 7).seconds == doctest::Approx(7e-6));
  CHECK(floor_of(cost, fast_memory, 7).ceiling == std::string("bf16"));
  Roofline const cached{.flops = 1e12, .memory = 1e8, .cache = 1e10, .cache_bytes = 250};
  CHECK(floor_of(cost, cached, 2).ceiling == std::string("cache"));
  CHECK(floor_of(cost, cached, 2).seconds == doctest::Approx(250 / 1e10));
  CHECK(floor_of(cost, cached, 3).ceiling == std::string("memory"));
}

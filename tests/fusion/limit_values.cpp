// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks on both sides of limits of SegmentLimits beyond which other kernels compute them.
// tests/fusion/limits.cpp checks the plans on both sides of all.

#include <fusion/boundaries.hpp>

#include <rings.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct Widest : Network<Input<128>, Linear<128>, GELU, Linear<127>, Linear<128>, Tanh> {};
struct Wider : Network<Input<129>, Linear<128>, GELU, Linear<3>, Linear<2>> {};
struct MostParameters : Network<Input<128>, Repeat<10, Linear<128, Bias<false>>>> {};
struct Seventeen : Network<Input<2>, Repeat<17, Linear<2>, Tanh>> {};
struct MostFeatures : Network<Input<1, 2048>, MaxPool1d<2>, Flatten, Linear<128, Bias<false>>> {};
struct FeaturesOnceMore : Network<Input<2, 8>, MaxPool1d<8>, Flatten, Residual<Linear<2>>, Linear<2>> {};
// clang-format on

// Kernels of backend portable within the limits of another one, which trains layer by layer.
struct Narrow {
  static constexpr char const* name = "narrow";
  static constexpr SegmentLimits segment_limits = {
      .backend = name, .widest = 32, .most_layers = 3, .most_parameters = 4096};
  template <class Op, class P> using kernels = portable::Kernels<Op, P>;
};
using OnNarrow = Execution<Space, Backends<Narrow>>;
struct Cut : Network<Input<12>, Linear<32>, GELU, Linear<20>, Tanh, Linear<33>, ReLU, Linear<9>,
                     Linear<8>, Sigmoid, Linear<7>, Linear<5>, Linear<4>> {};

template <class Net>
constexpr int steps = Planned<Net, Phase::inference, FusionLevel::tile, 8>::plan.size;

}  // namespace

TEST_CASE("limits: values and gradients of narrow segments") {
  static_assert(steps<Widest> == 1 && steps<Wider> == 2 && steps<MostParameters> == 1 &&
                steps<Seventeen> == 2);
  compare_with_reference<Widest>();
  if constexpr (all_cases) compare_with_reference<Wider>();
  compare_with_reference<MostParameters>();
  compare_with_reference<Seventeen>();
}
TEST_CASE("limits: values and gradients of small images") {
  static_assert(steps<MostFeatures> == 1 && steps<FeaturesOnceMore> == 1);
  compare_with_reference<MostFeatures>();
  if constexpr (all_cases) compare_with_reference<FeaturesOnceMore>();
}

TEST_CASE("limits: the plan follows the backend that states them, and results are the same") {
  using Plan = NetworkPlan<Cut, Phase::inference, Full<double>, OnNarrow>;
  static_assert(Plan::plan.size == 5);  // two, one too wide, its reader, three, one more
  static_assert(Plan::plan.step[0].kind == StepKind::segment && Plan::plan.step[0].count == 4);
  static_assert(Plan::plan.step[3].kind == StepKind::segment && Plan::plan.step[3].count == 4);
  static_assert(NetworkPlan<Cut, Phase::inference, Full<double>, Fused>::plan.size == 1);
  static_assert(!runs_whole_steps<Cut, Full<double>, OnNarrow>() &&
                runs_whole_steps<Cut, Full<double>, Fused>());
  compare_with_reference<Cut, Kokkos::LayoutRight, OnNarrow>();
  // The first backend of a list that states limits is asked.
  using Second = Execution<Space, Backends<PortableBackend, Narrow>>;
  static_assert(NetworkPlan<Cut, Phase::inference, Full<double>, Second>::plan.size == 1);
}

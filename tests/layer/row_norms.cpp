// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// LayerNorm and RMSNorm in networks: values by hand, the chain behind them in one step, files.

#include <fusion/boundaries.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
struct Narrow : Network<Input<5>, Linear<7>, LayerNorm<>, ReLU, Linear<6>, RMSNorm<>, Tanh, Dropout<0.2>, Linear<3>> {};
struct OnImages : Network<Input<3, 4, 5>, Conv2d<6>, LayerNorm<Affine<false>>, GELU, Conv2d<2, KernelSize<1>>, RMSNorm<Epsilon<1e-3>, Affine<false>>> {};
struct Alone : Network<Input<4>, LayerNorm<Epsilon<0.5>>> {};
struct Root : Network<Input<4>, RMSNorm<>> {};
struct Branches : Network<Input<4>, Residual<LayerNorm<>, Linear<4>>, LayerNorm<>, Softmax> {};
// clang-format on

static_assert(Narrow::parameter_count == 5 * 7 + 7 + 2 * 7 + 7 * 6 + 6 + 6 + 6 * 3 + 3);
template <class Net>
constexpr int steps = Planned<Net, Phase::training, FusionLevel::epilogue, 4>::plan.size;
static_assert(steps<Narrow> == 5);  // each normalisation takes the pointwise layers behind it
static_assert(steps<Branches> == 5);
static_assert(is_whole_step<Narrow::program>(FusionLevel::tile));
static_assert(is_whole_step<Narrow::program>(FusionLevel::tile, ReferenceBackend::segment_limits));

}  // namespace

TEST_CASE("row norms: values by hand") {
  Space const exec;
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", 2, 4), y("y", 2, 4);
  double const given[] = {1, 2, 3, 6, -1, -1, -1, -1};
  for (int i = 0; i < 8; ++i) x.data()[i] = given[i];
  Model<Alone, Full<double>> layer(exec, {.batch = 2});
  layer.parameters()(0) = 2;        // weight of channel 0
  layer.parameters()(16 + 3) = 10;  // bias of channel 3
  layer.infer(exec, x, y);
  exec.fence("layer norm");
  double const deviation = std::sqrt(3.5 + 0.5);  // mean 3, variance (4 + 1 + 0 + 9) / 4
  double const expected[] = {
      2 * -2 / deviation, -1 / deviation, 0, 3 / deviation + 10, 0, 0, 0, 10};
  for (int i = 0; i < 8; ++i) CHECK(y.data()[i] == doctest::Approx(expected[i]).epsilon(1e-14));
  Model<Root, Full<double>> root(exec, {.batch = 2});
  root.infer(exec, x, y);
  exec.fence("rms norm");
  for (int i = 0; i < 4; ++i)
    CHECK(y.data()[i] == doctest::Approx(given[i] / std::sqrt(12.5 + 1e-5)).epsilon(1e-14));
}

TEST_CASE("row norms: fused against plain loops, in training and inference") {
  compare_with_reference<Narrow>();
  compare_with_reference<Narrow, Kokkos::LayoutLeft>();
  compare_with_reference<OnImages>();
  compare_with_reference<Branches>();
}
TEST_CASE("row norms: the whole step of the reference against its layers") {
  compare_with_reference<Narrow, Kokkos::LayoutRight,
                         Execution<Space, Backends<ReferenceBackend>>>();
}
TEST_CASE("row norms: on the portable backend") {
  compare_with_reference<Narrow, Kokkos::LayoutRight,
                         Execution<Space, Backends<PortableBackend>>>();
}

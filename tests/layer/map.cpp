// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers with several operands, with parameters and with noise: values by hand, initial values,
// what becomes one step, and the distribution of the noise.

#include <phyllo/core/random_normal.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace phyllo;

namespace {

constexpr double pi = 3.14159265358979323846;

struct features;
struct log_variance;
using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// clang-format off
struct Parameters : Network<Input<2>, PReLU<PerChannel<true>>, ScaleShift, LayerScale<InitialValue<0.5>>, PReLU<InitialValue<0.125>>> {};
struct Excited : Network<Input<2, 1, 2>, Save<features>, GlobalAveragePool, Flatten, MultiplyBy<features>> {};
struct Gated : Network<Input<4>, GLU, Tanh, Dropout<0.5>, Save<features>, MultiplyBy<features>> {};
struct Latent : Network<Input<8>, Reparameterise> {};
struct Twice : Network<Input<8>, Save<log_variance>, Combine<ReparameterisePair, log_variance>, Combine<ReparameterisePair, log_variance>> {};
// clang-format on

static_assert(Parameters::parameter_count == 2 + 4 + 2 + 1);
static_assert(Excited::output == Shape{2, 1, 2});
static_assert(Gated::output == Shape{2});
constexpr auto plan = Planned<Gated, Phase::training, FusionLevel::epilogue, 4>::plan;
static_assert(plan.size == 2);  // GLU with the layers behind it, and the product

template <class Net> auto infer(std::vector<double> const& given) {
  Space const exec;
  Matrix const x("x", 1, given.size()), y("y", 1, std::size_t(Net::output.size()));
  for (std::size_t i = 0; i < given.size(); ++i) x.data()[i] = given[i];
  Model<Net, Full<double>, Execution<Space>> model(exec, {.batch = 1});
  model.infer(exec, x, y);
  exec.fence("map");
  return std::vector<double>(y.data(), y.data() + y.size());
}
template <class Net> Matrix train(int batch, double mean, double log_variance) {
  Space const exec;
  Matrix const x("x", std::size_t(batch), 8), y("y", std::size_t(batch), Net::output.channels);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = i % 8 < 4 ? mean : log_variance;
  Model<Net, Full<double>, Execution<Space>> model(exec, {.batch = batch});
  model.forward(exec, x, y);
  exec.fence("map");
  return y;
}

}  // namespace

TEST_CASE("maps: values by hand") {
  // x > 0: 0.5 x, else 0.25 * 0.5 * 0.125 x.
  CHECK(infer<Parameters>({4, -64}) == std::vector<double>{2, -1});
  // Each channel times its mean.
  CHECK(infer<Excited>({1, 3, -2, 4}) == std::vector<double>{2, 6, -2, 4});
  auto const gated = infer<Gated>({1, 2, 0, 40});
  double const t = std::tanh(0.5), u = std::tanh(2.0);
  CHECK(gated[0] == doctest::Approx(t * t).epsilon(1e-14));
  CHECK(gated[1] == doctest::Approx(u * u).epsilon(1e-14));
  // The mean, however large the deviation.
  CHECK(infer<Latent>({1, 2, 3, 4, 9999, 0, 0, 0}) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("maps: initial values and names of parameters") {
  Model<Parameters, Full<float>, Execution<Space>> const model(Space{}, {.batch = 1});
  std::vector<float> first;
  for (Node const& n : Parameters::program::nodes.node)
    for (ParameterTensor const& t : n.parameter)
      if (t.count > 0) first.push_back(model.parameters()(std::size_t(t.offset)));
  CHECK(first == std::vector<float>{0.25f, 1, 0, 0.5f, 0.125f});
}

TEST_CASE("maps: noise has the deviation of its variance, and is another one in each layer") {
  int const batch = 4096;
  auto const moments = [](Matrix const& z, double center, double deviation) {
    double sum = 0, square = 0, product = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      double const d = (z.data()[i] - center) / deviation;
      sum += d, square += d * d;
      if (i > 0) product += d * (z.data()[i - 1] - center) / deviation;
    }
    double const n = double(z.size()), off = 4 / std::sqrt(n);
    CHECK(std::fabs(sum / n) < off);
    CHECK(std::fabs(square / n - 1) < off * std::sqrt(2));
    CHECK(std::fabs(product / n) < off);  // neighbours
  };
  moments(train<Latent>(batch, 3, std::log(4.0)), 3, 2);
  // Of two layers' noise the variances add up; that of one layer twice would have four times one.
  auto const twice = train<Twice>(batch, 0, 0);
  moments(twice, 0, std::sqrt(2));
}

TEST_CASE("random_normal: pairs on a circle, whose radius and angle are uniform") {
  std::vector<int> octants(8), radii(4);
  int const pairs = 8000;
  for (std::uint32_t j = 0; j < pairs; ++j) {
    double const x = double(random_normal({7, 1, 2, 3, 2 * j}));
    double const y = double(random_normal({7, 1, 2, 3, 2 * j + 1}));
    ++octants[std::size_t(int((std::atan2(y, x) / pi + 1) * 4) % 8)];
    ++radii[std::size_t(std::exp(-(x * x + y * y) / 2) * 4) % 4];
    double const u = double(random_uniform({7, 1, 2, 3, 2 * j})),
                 v = double(random_uniform({7, 1, 2, 3, 2 * j + 1}));
    double const radius = std::sqrt(-2 * std::log1p(-u));
    CHECK(std::fabs(x - radius * std::cos(2 * pi * v)) <= 4e-7 * radius + 1e-12);
    CHECK(std::fabs(y - radius * std::sin(2 * pi * v)) <= 4e-7 * radius + 1e-12);
  }
  for (int n : octants) CHECK(std::abs(n - pairs / 8) < 4 * std::sqrt(pairs / 8));
  for (int n : radii) CHECK(std::abs(n - pairs / 4) < 4 * std::sqrt(pairs / 4));
}

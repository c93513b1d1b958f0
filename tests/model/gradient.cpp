// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Whole networks: gradients of inputs and parameters against central differences in double, on both
// backends and at every scale of fusion.

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace {

// Where the reference's plain loops run.
using Space = Kokkos::DefaultHostExecutionSpace;
constexpr int batch = 3;

template <class B, phyllo::FusionLevel Level>
using On = phyllo::Execution<Space, phyllo::Backends<B>, Level>;

// A smooth function of the outputs with a known gradient: sum of cos(i) y_i + y_i^2 / 2.
template <class M> struct Probe {
  using Net = typename M::network;
  Space exec;
  M model{exec, {.batch = batch, .seed = 5}};
  Kokkos::View<double**, Kokkos::HostSpace> x{"x", batch, std::size_t(Net::input.size())};
  Kokkos::View<double**, Kokkos::HostSpace> y{"y", batch, std::size_t(Net::output.size())};
  Kokkos::View<double**, Kokkos::HostSpace> d_y{"d_y", batch, std::size_t(Net::output.size())};
  Kokkos::View<double**, Kokkos::HostSpace> d_x{"d_x", batch, std::size_t(Net::input.size())};

  Probe() {
    for (std::size_t n = 0; n < x.extent(0); ++n)
      for (std::size_t i = 0; i < x.extent(1); ++i)
        x(n, i) = std::sin(1.3 + 0.77 * double(i) + 2.1 * double(n) * double(i + 1));
    exec.fence();
    // Biases away from zero, so that their gradients matter everywhere.
    for (std::size_t i = 0; i < model.parameters().extent(0); ++i)
      model.parameters()(i) += 0.05 * std::sin(3.0 * double(i));
  }

  double value() {
    // The same random masks in every evaluation.
    model.state()().forward = 0;
    model.forward(exec, x, y);
    exec.fence();
    double sum = 0;
    for (std::size_t n = 0; n < y.extent(0); ++n)
      for (std::size_t i = 0; i < y.extent(1); ++i)
        sum += std::cos(double(i)) * y(n, i) + y(n, i) * y(n, i) / 2;
    return sum;
  }

  std::vector<double> gradient() {
    value();
    for (std::size_t n = 0; n < y.extent(0); ++n)
      for (std::size_t i = 0; i < y.extent(1); ++i) d_y(n, i) = std::cos(double(i)) + y(n, i);
    model.backward(exec, d_y, d_x);
    exec.fence();
    std::vector<double> g;
    for (std::size_t n = 0; n < x.extent(0); ++n)
      for (std::size_t i = 0; i < x.extent(1); ++i) g.push_back(d_x(n, i));
    for (int i = 0; i < M::nodes.arena_size; ++i) g.push_back(model.gradients()(std::size_t(i)));
    return g;
  }

  double& variable(std::size_t i) {
    std::size_t const inputs = x.size();
    return i < inputs ? x.data()[i] : model.parameters()(i - inputs);
  }
};

double norm(std::vector<double> const& v) {
  double sum = 0;
  for (double const a : v) sum += a * a;
  return std::sqrt(sum);
}

double distance(std::vector<double> const& a, std::vector<double> const& b) {
  std::vector<double> d(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) d[i] = a[i] - b[i];
  return norm(d) / norm(a);
}

template <class Net> void check() {
  using phyllo::FusionLevel;
  using P = phyllo::Full<double>;
  using Reference = phyllo::Model<Net, P, On<phyllo::ReferenceBackend, FusionLevel::none>>;
  Probe<Reference> probe;
  auto const exact = probe.gradient();
  REQUIRE(norm(exact) > 1e-3);
  std::vector<double> differences(exact.size()), masked(exact.size());
  std::size_t const stride = exact.size() / 150 + 1;
  for (std::size_t i = 0; i < exact.size(); i += stride) {
    double& v = probe.variable(i);
    double const at = v, h = 6e-6 * std::max(1.0, std::abs(at));
    v = at + h;
    double const above = probe.value();
    v = at - h;
    double const below = probe.value();
    v = at;
    differences[i] = (above - below) / (2 * h);
    masked[i] = exact[i];
  }
  CHECK(distance(masked, differences) < 1e-6);

  Probe<phyllo::Model<Net, P, On<phyllo::ReferenceBackend, FusionLevel::segment>>> fused_reference;
  Probe<phyllo::Model<Net, P, On<phyllo::PortableBackend, FusionLevel::none>>> single;
  Probe<phyllo::Model<Net, P, On<phyllo::PortableBackend, FusionLevel::segment>>> fused;
  CHECK(distance(exact, fused_reference.gradient()) < 1e-12);
  CHECK(distance(exact, single.gradient()) < 1e-12);
  auto const first = fused.gradient();
  CHECK(distance(exact, first) < 1e-12);
  CHECK(first == fused.gradient());  // the same bits again
}

struct skip;
using namespace phyllo;

struct Perceptron : Network<Input<5>, Linear<7>, Tanh, Linear<6, Bias<false>>, GELU, Linear<3>> {};
struct Convolutional : Network<Input<2, 6, 5>, Conv2d<4, Padding<1>>, Sigmoid, AveragePool2d<2>,
                               Conv2d<3, KernelSize<2, 1>, Bias<false>>, Tanh, Flatten, Linear<4>> {
};
struct Strided : Network<Input<2, 7, 8>, Conv2d<17, Stride<2>, Padding<1>>, GELU,
                         Conv2d<3, KernelSize<3>, Stride<1, 2>, Padding<1>>> {};
struct Signal
    : Network<Input<3, 11>, Conv1d<5, Stride<2>>, Tanh, MaxPool1d<2>, Flatten, Linear<2>> {};
struct Volume : Network<Input<1, 4, 4, 5>, Conv3d<3, Padding<1>>, Sigmoid, AveragePool3d<2>,
                        Upsample<2>, Conv3d<2, KernelSize<2>>> {};
struct Normalized : Network<Input<3, 4, 4>, Conv2d<5>, BatchNorm<>, Tanh, BatchNorm<>,
                            GlobalAveragePool, Flatten, Linear<3>> {};
struct Skipping : Network<Input<2, 4, 4>, Conv2d<4, Padding<1>>, Tanh, Save<skip>, AveragePool2d<2>,
                          Upsample<2>, ConcatFrom<skip>, Residual<Conv2d<8, Padding<1>>, Sigmoid>,
                          Tanh, Branch<Path<Conv2d<2>>, Path<Conv2d<3>, Tanh>>> {};
struct Flattened : Network<Input<2, 3, 3>, Tanh, Flatten, Sigmoid, Linear<4>, Softmax> {};
struct Dropped : Network<Input<9>, Linear<8>, Tanh, Dropout<0.4>, Linear<6>, Dropout<0.2>, Sigmoid,
                         Linear<3>> {};

}  // namespace

TEST_CASE_TEMPLATE("gradients: central differences, both backends, all scales of fusion", Net,
                   Perceptron, Convolutional, Strided, Signal, Volume) {
  check<Net>();
}
TEST_CASE_TEMPLATE("gradients: normalisation, skips, flattening and random masks", Net, Normalized,
                   Skipping, Flattened, Dropped) {
  check<Net>();
}

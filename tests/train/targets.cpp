// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training reads inputs and targets of any layout, element type and stride alike.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Host = Kokkos::HostSpace;
constexpr std::size_t batch = 6;

struct Pixels : Network<Input<2, 3, 4>, Conv2d<5, Padding<1>>, Tanh, Conv2d<3, KernelSize<1>>> {};
struct Classes : Network<Input<4>, Linear<9>, Tanh, Linear<3>> {};
struct first;
struct second;
struct TwoHeads
    : Network<Input<4>, Linear<9>, Tanh, BatchNorm<>, Output<first>, Linear<3>, Output<second>> {};

template <class Net, class L>
using TrainerOf = Trainer<Net, L, Sgd, Full<double>, Local, Execution<Space>>;

// Parameters after two steps of rate 0.1.
template <class Net, class L, class X, class T>
std::vector<double> trained(X const& x, T const& t) {
  Space const exec;
  TrainerOf<Net, L> trainer(exec, Sgd{.rate = 0.1f}, {.batch = int(batch), .seed = 3});
  for (int step = 0; step < 2; ++step) trainer.step(x, t);
  exec.fence("targets");
  auto const& p = trainer.model().parameters();
  return {p.data(), p.data() + p.size()};
}

int label(std::size_t i) { return int((i * 7 + 1) % 3); }

template <class T> std::vector<double> trained_on(Kokkos::View<double**, Host> const& x) {
  Kokkos::View<T*, Host> t("labels", batch);
  for (std::size_t n = 0; n < batch; ++n) t(n) = T(label(n));
  auto const result = trained<Classes, CrossEntropy>(x, t);
  // Every second of twice as many, and read-only.
  Kokkos::View<T**, Host> table("labels", batch, 2);
  for (std::size_t n = 0; n < batch; ++n) table(n, 0) = T(label(n)), table(n, 1) = T(9);
  CHECK(trained<Classes, CrossEntropy>(x, Kokkos::subview(table, Kokkos::ALL, 0)) == result);
  CHECK(trained<Classes, CrossEntropy>(x, Kokkos::View<T const*, Host>(t)) == result);
  return result;
}

template <class View> View filled(View const& v) {
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t c = 0; c < v.extent(1); ++c)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t w = 0; w < 4; ++w)
          v(n, c, h, w) = std::sin(0.4 + 1.9 * double(((n * 5 + c) * 3 + h) * 4 + w));
  return v;
}

using Right = Kokkos::View<double****, Kokkos::LayoutRight, Host>;
using Left = Kokkos::View<double****, Kokkos::LayoutLeft, Host>;

}  // namespace

TEST_CASE("targets: class indices of any integer type and stride") {
  Kokkos::View<double**, Host> x("x", batch, 4);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.3 + 1.9 * double(i));
  auto const expected = trained_on<int>(x);
  CHECK(trained_on<long>(x) == expected);
  CHECK(trained_on<long long>(x) == expected);
  CHECK(trained_on<std::uint8_t>(x) == expected);
  CHECK(trained_on<unsigned>(x) == expected);
  CHECK(trained_on<std::size_t>(x) == expected);
}

TEST_CASE("targets: images and their targets of any layout train the same bits") {
  auto const x = filled(Right("x", batch, 2, 3, 4)), t = filled(Right("t", batch, 3, 3, 4));
  auto const expected = trained<Pixels, MeanSquaredError>(x, t);
  auto const left = filled(Left("x", batch, 2, 3, 4)), left_t = filled(Left("t", batch, 3, 3, 4));
  CHECK(trained<Pixels, MeanSquaredError>(left, left_t) == expected);
  CHECK(trained<Pixels, MeanSquaredError>(x, left_t) == expected);
  CHECK(trained<Pixels, MeanSquaredError>(Left::const_type(left), Right::const_type(t)) ==
        expected);

  Kokkos::View<double*****, Host> larger("larger", batch + 2, 4, 5, 6, 2);
  auto const part =
      Kokkos::subview(larger, std::pair<int, int>(1, 1 + int(batch)), std::pair<int, int>(2, 4),
                      std::pair<int, int>(1, 4), std::pair<int, int>(2, 6), 1);
  filled(part);
  CHECK(trained<Pixels, MeanSquaredError>(part, t) == expected);

  // Flat rows are read as (C, H, W).
  Kokkos::View<double**, Host> flat(x.data(), batch, 24);
  CHECK(trained<Pixels, MeanSquaredError>(flat, t) == expected);
}

TEST_CASE("targets: cross-entropy of each pixel, against its formula") {
  Space const exec;
  auto const x = filled(Right("x", batch, 2, 3, 4));
  Kokkos::View<int***, Kokkos::LayoutLeft, Host> t("t", batch, 3, 4);
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t w = 0; w < 4; ++w) t(n, h, w) = label(n + 5 * h + w * w);
  TrainerOf<Pixels, CrossEntropy> trainer(exec, Sgd{.rate = 0.1f}, {.batch = int(batch)});
  Right y("y", batch, 3, 3, 4);
  trainer.model().infer(exec, x, y);
  exec.fence("targets");
  double loss = 0, correct = 0;
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t w = 0; w < 4; ++w) {
        double sum = 0;
        std::size_t best = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          sum += std::exp(y(n, c, h, w));
          if (y(n, c, h, w) > y(n, best, h, w)) best = c;
        }
        loss += std::log(sum) - y(n, std::size_t(t(n, h, w)), h, w);
        correct += int(best) == t(n, h, w);
      }
  auto const evaluation = trainer.evaluate(x, t);
  CHECK(evaluation.samples == long(batch));
  CHECK(evaluation.loss == doctest::Approx(loss / (12 * batch)).epsilon(1e-13));
  CHECK(evaluation.accuracy == doctest::Approx(correct / (12 * batch)).epsilon(1e-13));
  trainer.step(x, t);
  CHECK(trainer.loss() == doctest::Approx(loss / (12 * batch)).epsilon(1e-13));
  CHECK(trainer.evaluate(x, t).loss < loss / (12 * batch));
}

TEST_CASE("targets: a loss of the output alone needs no name") {
  struct Net
      : Network<Input<4>, Linear<6>, Output<first>, Reparameterise, Linear<3>, Output<second>> {};
  using L = Losses<On<second, MeanSquaredError>, On<first, UnitGaussianDivergence, 0.25>>;
  Kokkos::View<double**, Host> x("x", batch, 4), t("t", batch, 3);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.3 + 1.9 * double(i));
  auto const result = trained<Net, L>(x, t);
  CHECK(trained<Net, L>(x, tensors(named<second>(t))) == result);
  CHECK(trained<Net, L>(x, tensors(named<first>(no_targets), named<second>(t))) == result);
  using Alone = Losses<On<second, MeanSquaredError>, On<first, UnitGaussianDivergence, 0>>;
  CHECK(trained<Net, Alone>(x, t) != result);
}

TEST_CASE("targets: weights of losses and constants of a batch normalisation are doubles") {
  Space const exec;
  Kokkos::View<double**, Host> x("x", batch, 4), a("a", batch, 9), b("b", batch, 3);
  Kokkos::View<double**, Host> t("t", batch, 9), u("u", batch, 3);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.3 + 1.9 * double(i));
  using L = Losses<On<first, MeanSquaredError, 0.1>, On<second, MeanSquaredError, 0.3>>;
  TrainerOf<TwoHeads, L> trainer(exec, Sgd{.rate = 0.1}, {.batch = int(batch)});
  auto const& running = trainer.model().buffers();
  for (int c = 0; c < 18; ++c) running(c) = c < 9 ? 0.0f : 1.0f;
  trainer.model().infer(exec, x, tensors(named<first>(a), named<second>(b)));
  exec.fence("targets");
  auto const& weight = trainer.model().parameters();
  double loss = 0, off = 0;
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t o = 0; o < 9; ++o) {
      double z = 0;
      for (std::size_t c = 0; c < 4; ++c) z += x(n, c) * weight(c * 9 + o);
      off = std::max(off, std::fabs(a(n, o) - std::tanh(z) / std::sqrt(1 + 1e-5)));
      loss += 0.1 * a(n, o) * a(n, o) / 9 / batch;
    }
    for (std::size_t o = 0; o < 3; ++o) loss += 0.3 * b(n, o) * b(n, o) / 3 / batch;
  }
  CHECK(off < 1e-15);
  auto const evaluation = trainer.evaluate(x, tensors(named<first>(t), named<second>(u)));
  CHECK(evaluation.loss == doctest::Approx(loss).epsilon(1e-15));
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Networks that read integers: Embedding beside numbers, against a table read by hand.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <phyllo/backend/reference/reference.hpp>

#include <cmath>
#include <cstdint>
#include <random>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
struct words;
struct numbers;
struct joined;

// clang-format off
struct Sentence : Network<IntegerInput<6>, Embedding<11, 5>, Flatten, Linear<7>, Tanh, Linear<3>> {};
struct Mapped : Network<IntegerInput<1, 3, 4>, Embedding<9, 4>, Conv2d<3, KernelSize<2>>, Tanh, Flatten, Linear<2>> {};
struct Mixture : Network<NamedIntegerInput<words, 2>, Embedding<5, 3>, Flatten, Save<joined>, NamedInput<numbers, 4>, Linear<6>, Tanh, ConcatFrom<joined>, Linear<2>> {};
struct Alone : Network<IntegerInput<4>, Embedding<6, 2>> {};
// clang-format on
static_assert(Sentence::output == Shape{3});
static_assert(Alone::output == Shape(2, 4));
static_assert(Sentence::parameter_count == 11 * 5 + 30 * 7 + 7 + 7 * 3 + 3);

template <class T, class View> void draw(View const& v, T last, unsigned seed) {
  std::minstd_rand random(seed);
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = T(random() % unsigned(last));
}
template <class View> void draw_numbers(View const& v, unsigned seed) {
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = 2 * random_uniform(seed, 0, 0, i, 0) - 1;
}

using Exec = Execution<Space>;
using Plain = Execution<Space, Backends<ReferenceBackend>, FusionLevel::none>;
using Portable = Execution<Space, Backends<PortableBackend>>;

}  // namespace

TEST_CASE_TEMPLATE("integer inputs: rows of the table, for every type of integers and layout", T,
                   std::int32_t, std::int64_t, unsigned char, std::uint32_t, std::size_t) {
  Space const exec;
  Model<Alone, Full<float>, Exec> const model(exec, {.batch = 5});
  Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace> const x("x", 3, 4);
  Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const y("y", 3, 2, 4);
  draw<T>(x, T(6), 1);
  model.infer(exec, x, y);
  exec.fence("infer");
  auto const& table = model.parameters();
  double squares = 0;
  for (int i = 0; i < 12; ++i) squares += double(table(i)) * table(i);
  CHECK(squares > 3);  // drawn from a normal distribution
  for (int n = 0; n < 3; ++n)
    for (int c = 0; c < 2; ++c)
      for (int t = 0; t < 4; ++t) CHECK(y(n, c, t) == table(int(x(n, t)) * 2 + c));
}

TEST_CASE("integer inputs: gradients are central differences of the loss") {
  Space const exec;
  using Fused = Trainer<Sentence, CrossEntropy, Sgd, Full<double>, Local, Exec>;
  constexpr int batch = 9;
  Fused trainer(exec, {.rate = 0}, {.batch = batch, .seed = 3});
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", batch, 6);
  Kokkos::View<int*, Kokkos::HostSpace> const labels("labels", batch);
  draw<int>(x, 10, 2);  // entry 10 is not read
  draw<int>(labels, 3, 3);
  trainer.step(x, labels);
  exec.fence("step");
  auto& model = trainer.model();
  auto const gradient = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, model.gradients());
  auto const loss = [&] { return trainer.evaluate(x, labels).loss; };
  double most = 0;
  for (int i = 0; i < Sentence::parameter_count; i += 3) {
    double& p = model.parameters().data()[i];
    double const kept = p, h = 1e-5;
    p = kept + h;
    double const above = loss();
    p = kept - h;
    double const below = loss();
    p = kept;
    double const difference = (above - below) / (2 * h);
    most = std::fmax(most, std::fabs(difference));
    // Of a sum over samples: the division belongs to the update.
    CHECK(gradient(i) / batch == doctest::Approx(difference).epsilon(1e-6).scale(1e-3));
  }
  CHECK(most > 1e-2);
  for (int c = 0; c < 5; ++c) CHECK(gradient(10 * 5 + c) == 0);
}

TEST_CASE_TEMPLATE("integer inputs: backends and fusion agree in training", E, Exec, Portable) {
  Space const exec;
  constexpr int batch = 13;
  Kokkos::View<int****, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", batch, 1, 3, 4);
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const y("y", batch, 2);
  draw<int>(x, 9, 4);
  draw_numbers(y, 5);
  Trainer<Mapped, MeanSquaredError, Adam, Full<double>, Local, E> fused(
      exec, {.rate = 0.01}, {.batch = batch, .seed = 3});
  Trainer<Mapped, MeanSquaredError, Adam, Full<double>, Local, Plain> plain(
      exec, {.rate = 0.01}, {.batch = batch, .seed = 3});
  for (int step = 0; step < 20; ++step) {
    fused.step(x, y);
    plain.step(x, y);
  }
  CHECK(fused.loss() == doctest::Approx(plain.loss()).epsilon(1e-10));
  for (int i = 0; i < Mapped::program::nodes.arena_size; ++i)
    CHECK(fused.model().parameters()(i) == doctest::Approx(plain.model().parameters()(i)));
}

TEST_CASE("integer inputs: beside numbers, whose gradient is passed on") {
  Space const exec;
  constexpr int batch = 4;
  Model<Mixture, Full<double>, Exec> model(exec, {.batch = batch});
  Kokkos::View<int**, Kokkos::LayoutRight, Kokkos::HostSpace> const w("w", batch, 2);
  using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Matrix const x("x", batch, 4), y("y", batch, 2), d_y("d_y", batch, 2), d_x("d_x", batch, 4);
  draw<int>(w, 5, 1);
  draw_numbers(x, 2);
  Kokkos::deep_copy(d_y, 1.0);
  auto const in = tensors(named<words>(w), named<numbers>(x));
  auto const sum = [&] {
    model.infer(exec, in, y);
    exec.fence("sum");
    double s = 0;
    for (std::size_t i = 0; i < y.size(); ++i) s += y.data()[i];
    return s;
  };
  model.forward(exec, in, y);
  model.backward(exec, d_y, tensors(named<numbers>(d_x)));
  exec.fence("backward");
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < 4; ++c) {
      double const kept = x(n, c), h = 1e-6;
      x(n, c) = kept + h;
      double const above = sum();
      x(n, c) = kept - h;
      double const below = sum();
      x(n, c) = kept;
      CHECK(d_x(n, c) == doctest::Approx((above - below) / (2 * h)).epsilon(1e-7));
    }
}

TEST_CASE("integer inputs: an index out of range is a skipped step, not memory of another") {
  Space const exec;
  Trainer<Sentence, CrossEntropy, Sgd, Full<float>, Local, Exec> trainer(exec, {.rate = 1.0f},
                                                                         {.batch = 2});
  Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Kokkos::HostSpace> const x("x", 2, 6);
  Kokkos::View<int*, Kokkos::HostSpace> const labels("labels", 2);
  for (std::int64_t const wrong : {std::int64_t(11), std::int64_t(-1), std::int64_t(1) << 40}) {
    Kokkos::deep_copy(x, 1);
    x(1, 3) = wrong;
    auto const before =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trainer.model().parameters());
    trainer.step(x, labels);
    CHECK(std::isnan(trainer.loss()));
    for (int i = 0; i < Sentence::program::nodes.arena_size; ++i)
      CHECK(trainer.model().parameters()(i) == before(i));
  }
  Kokkos::deep_copy(x, 1);
  trainer.step(x, labels);
  CHECK(std::isfinite(trainer.loss()));
}

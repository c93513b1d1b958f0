// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Metrics against plain loops over the outputs of inference.

#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/evaluate.hpp>
#include <phyllo/fit/measure.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <sentence_of.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Rows = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Images = Kokkos::View<float****, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Surrogate : Network<Input<4>, Linear<7>, Tanh, Linear<3>> {};
struct Pixels : Network<Input<2, 3, 4>, Conv2d<5, Padding<1>>> {};

// A metric of the caller's own.
struct LargestError {
  static constexpr char const* name = "mean_of_largest_error";
  static constexpr bool classes = false;
  static constexpr int sums(int) { return 2; }
  KOKKOS_FUNCTION void add(MetricRow const& y, double* sums) const {
    double largest = 0;
    for (int c = 0; c < y.channels(); ++c)
      largest = Kokkos::fmax(largest, Kokkos::fabs(y(c) - y.target(c)));
    sums[0] += largest;
    sums[1] += 1;
  }
  static double value(double const* sums, int) { return sums[0] / sums[1]; }
};

template <class V> void fill(V const& v, double phase) {
  for (std::size_t i = 0; i < v.size(); ++i)
    v.data()[i] = float(std::sin(phase + 1.7 * double(i)) + 2 * std::sin(0.3 * double(i)));
}

}  // namespace

TEST_CASE("metrics: errors of numbers") {
  Space const exec;
  constexpr std::size_t samples = 700;
  Trainer<Surrogate, MeanSquaredError, Sgd, Full<float>, Local, Execution<Space>> trainer(
      exec, Sgd{}, {.batch = 64});
  Rows const x("x", samples, 4), t("t", samples, 3), y("y", samples, 3);
  fill(x, 0.2);
  fill(t, 0.9);
  for (std::size_t n = 0; n < samples; ++n) t(n, 2) = 0.75f;  // a channel without variance
  trainer.model().infer(exec, x, y);
  exec.fence("metrics");
  double absolute = 0, square = 0, largest_sum = 0, r2 = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    double mean = 0, error = 0, total = 0;
    for (std::size_t n = 0; n < samples; ++n) mean += double(t(n, c)) / samples;
    for (std::size_t n = 0; n < samples; ++n) {
      double const d = double(y(n, c)) - double(t(n, c));
      absolute += std::fabs(d) / (3 * samples);
      error += d * d;
      total += std::pow(double(t(n, c)) - mean, 2);
    }
    square += error / (3 * samples);
    if (c < 2) r2 += (1 - error / total) / 3;
  }
  for (std::size_t n = 0; n < samples; ++n) {
    double largest = 0;
    for (std::size_t c = 0; c < 3; ++c)
      largest = std::fmax(largest, std::fabs(double(y(n, c)) - double(t(n, c))));
    largest_sum += largest / samples;
  }
  using All = Metrics<AbsoluteError, RootMeanSquareError, R2, LargestError>;
  CHECK(detail::names_of(Metrics<LargestError, ConfusionMatrix>{}) ==
        std::vector<std::string>{"mean_of_largest_error"});
  auto const check = [&](auto const& values) {
    CHECK(values.template get<AbsoluteError>() == doctest::Approx(absolute).epsilon(1e-12));
    CHECK(values.template get<RootMeanSquareError>() ==
          doctest::Approx(std::sqrt(square)).epsilon(1e-12));
    CHECK(values.template get<R2>() == doctest::Approx(r2).epsilon(1e-10));
    CHECK(values.template get<LargestError>() == doctest::Approx(largest_sum).epsilon(1e-12));
  };
  check(measure(trainer, x, t, All{}));
  check(measure(trainer, HeldOut{x, t}, All{}));
  Batches<Rows, Rows, Space> batches(exec, ViewSource(x, t), {.batch = 64, .shuffle = false});
  check(measure(trainer, batches, All{}));
  Rows const exact("exact", samples, 3);
  Kokkos::deep_copy(exact, y);
  CHECK(measure(trainer, x, exact, Metrics<R2>{}).get<R2>() == 1);
}

TEST_CASE("metrics: classes at the positions of an image") {
  Space const exec;
  constexpr std::size_t samples = 40;
  Trainer<Pixels, CrossEntropy, Sgd, Full<float>, Local, Execution<Space>> trainer(exec, Sgd{},
                                                                                   {.batch = 16});
  Images const x("x", samples, 2, 3, 4), y("y", samples, 5, 3, 4);
  Kokkos::View<int***, Kokkos::HostSpace> const t("t", samples, 3, 4);
  fill(x, 0.2);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = int(i * 7 % 5);
  trainer.model().infer(exec, x, y);
  exec.fence("metrics");
  double first = 0, two = 0;
  std::vector<long> matrix(25);
  for (std::size_t n = 0; n < samples; ++n)
    for (std::size_t h = 0; h < 3; ++h)
      for (std::size_t w = 0; w < 4; ++w) {
        int const label = t(n, h, w);
        int larger = 0, largest = 0;
        for (int c = 0; c < 5; ++c) {
          larger += y(n, c, h, w) > y(n, label, h, w);
          if (y(n, c, h, w) > y(n, largest, h, w)) largest = c;
        }
        first += larger < 1;
        two += larger < 2;
        ++matrix[std::size_t(label * 5 + largest)];
      }
  auto const values = measure(trainer, x, t, Metrics<TopK<>, TopK<2>, ConfusionMatrix>{});
  CHECK(std::string(TopK<>::name) == "top_1");
  CHECK(std::string(TopK<205>::name) == "top_205");
  CHECK(values.get<TopK<>>() == first / (12.0 * samples));
  CHECK(values.get<TopK<2>>() == two / (12.0 * samples));
  CHECK(values.get<TopK<>>() == doctest::Approx(trainer.evaluate(x, t).accuracy).epsilon(1e-6));
  CHECK(values.get<ConfusionMatrix>() == matrix);
  t(3, 1, 2) = 5;
  std::string const refused =
      sentence_of([&] { measure(trainer, x, t, Metrics<ConfusionMatrix>{}); });
  CHECK(refused.find("expected class indices from 0 to 4, got 1 others") != refused.npos);
}

TEST_CASE("metrics: R2 of targets far from zero, and of targets that are all equal") {
  using Numbers = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  struct Line : Network<Input<1>, Linear<1>> {};
  Space const exec;
  constexpr std::size_t samples = 700;
  Trainer<Line, MeanSquaredError, Sgd, Full<double>, Local, Execution<Space>> trainer(
      exec, Sgd{}, {.batch = 64});
  Numbers const x("x", samples, 1), t("t", samples, 1), y("y", samples, 1);
  for (std::size_t n = 0; n < samples; ++n) x(n, 0) = std::sin(1.7 * double(n));
  trainer.model().infer(exec, x, y);
  exec.fence("metrics");
  for (double const scale : {1e-3, 1.0}) {
    double const mean = -1e4;
    double error = 0, total = 0, average = 0;
    double const slope = (y(1, 0) - y(0, 0)) / (x(1, 0) - x(0, 0));
    double const offset = y(0, 0) - slope * x(0, 0);
    Numbers const inputs("inputs", samples, 1), outputs("outputs", samples, 1);
    for (std::size_t n = 0; n < samples; ++n) {
      t(n, 0) = mean + scale * x(n, 0);
      inputs(n, 0) = (t(n, 0) + 0.1 * scale * std::cos(5.3 * double(n)) - offset) / slope;
      average += (t(n, 0) - mean) / samples;
    }
    trainer.model().infer(exec, inputs, outputs);
    exec.fence("metrics");
    for (std::size_t n = 0; n < samples; ++n) {
      error += std::pow(outputs(n, 0) - t(n, 0), 2);
      total += std::pow(t(n, 0) - mean - average, 2);
    }
    CHECK(error < 0.02 * total);
    CHECK(measure(trainer, inputs, t, Metrics<R2>{}).get<R2>() ==
          doctest::Approx(1 - error / total).epsilon(1e-9));
    Batches<Numbers, Numbers, Space> batches(exec, ViewSource(inputs, t), {.batch = 64});
    CHECK(measure(trainer, batches, Metrics<R2>{}).get<R2>() ==
          doctest::Approx(1 - error / total).epsilon(1e-9));
  }
  Kokkos::deep_copy(t, 0.1);
  CHECK(measure(trainer, x, t, Metrics<R2>{}).get<R2>() == 0);
  t(5, 0) = NAN;
  CHECK(std::isnan(measure(trainer, x, t, Metrics<R2>{}).get<R2>()));
}

TEST_CASE("metrics: outputs that are not numbers are never right, infinite ones are compared") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   inf = std::numeric_limits<double>::infinity();
  // Whether the class is among the first one, two and three.
  auto const check = [](std::array<double, 3> y, std::int64_t label,
                        std::array<bool, 3> const& expected) {
    ExternalTensor outputs, labels;
    outputs.data[0] = y.data(), labels.data[0] = &label;
    outputs.type = ElementType::f64, labels.type = ElementType::i64;
    outputs.channel_stride = 1;
    MetricRow const row(outputs, labels, Shape(3), 0, 0);
    double sums[3][2] = {};
    TopK<1>{}.add(row, sums[0]);
    TopK<2>{}.add(row, sums[1]);
    TopK<3>{}.add(row, sums[2]);
    for (std::size_t k = 0; k < 3; ++k) {
      CAPTURE(k);
      CHECK((sums[k][0] == 1) == expected[k]);
      CHECK(sums[k][1] == 1);
    }
  };
  check({nan, nan, nan}, 0, {false, false, false});
  check({1, nan, 0}, 1, {false, false, false});
  check({1, nan, 0}, 0, {false, true, true});
  check({1, nan, 0}, 2, {false, false, true});
  check({inf, -inf, -inf}, 0, {true, true, true});
  check({0, -inf, -inf}, 1, {false, true, true});
  check({0, -inf, -inf}, 2, {false, false, true});
  check({inf, inf, 0}, 1, {false, true, true});
}

TEST_CASE("evaluate: a masked loss over batches is that over all samples; positions stay") {
  using Classes = Kokkos::View<int***, Kokkos::LayoutRight, Kokkos::HostSpace>;
  using ImageBatches = Batches<Images, Classes, Space>;
  Space const exec;
  constexpr int samples = 19;
  Trainer<Pixels, MaskedCrossEntropy<>, Sgd, Full<float>, Local, Execution<Space>> trainer(
      exec, Sgd{}, {.batch = samples});
  Images const x("x", samples, 2, 3, 4);
  Classes const t("t", samples, 3, 4);
  fill(x, 0.2);
  // Samples 0 to 11 have few positions that count, samples 4 to 7 none.
  for (std::size_t i = 0; i < t.size(); ++i) {
    std::size_t const sample = i / 12, position = i % 12;
    bool const counts = sample >= 12 || (position <= sample % 3 && sample / 4 != 1);
    t.data()[i] = counts ? int(i * 7 % 5) : -100;
  }
  Evaluation const whole = trainer.evaluate(x, t);
  CHECK(whole.weight == doctest::Approx(100 / 12.0).epsilon(1e-6));
  CHECK(whole.samples == 8);
  for (long const batch : {19, 4, 1})
    for (bool const shuffle : {false, true}) {
      ImageBatches batches(exec, ViewSource(x, t),
                           {.batch = batch, .shuffle = shuffle, .lanes = 1});
      batches.seek({3, batches.steps() - 1});
      Position const before = batches.position();
      Evaluation const parts = evaluate(trainer, batches);
      CHECK(parts.loss == doctest::Approx(whole.loss).epsilon(1e-5));
      CHECK(parts.accuracy == doctest::Approx(whole.accuracy).epsilon(1e-5));
      CHECK(parts.weight == doctest::Approx(whole.weight).epsilon(1e-6));
      CHECK(parts.samples == whole.samples);
      CHECK(batches.position() == before);
    }
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = int(i % 5);
  ImageBatches batches(exec, ViewSource(x, t), {.batch = 4, .lanes = 1});
  batches.seek({2, 1});
  measure(trainer, batches, Metrics<TopK<>, TopK<2>, ConfusionMatrix>{});
  CHECK(batches.position() == Position{2, 1});
  t(11, 0, 0) = 5;
  ImageBatches wrong(exec, ViewSource(x, t), {.batch = 4, .lanes = 1});
  wrong.seek({2, 1});
  CHECK_THROWS_AS(evaluate(trainer, wrong), Error);
  CHECK(wrong.position() == Position{2, 1});
}

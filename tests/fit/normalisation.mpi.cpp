// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Constants of Normalise and Denormalise: against sums over all samples in double, the same bits on
// any number of ranks, in files, and as they were after training. An error of one rank is one
// sentence on all.

#include <comm/ranks.hpp>
#include <fit/shared_folder.hpp>
#include <phyllo/comm/mpi.hpp>
#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/checkpoints.hpp>
#include <phyllo/fit/fit_normalisation.hpp>
#include <phyllo/fit/normalised_targets.hpp>
#include <phyllo/io/copy_parameters.hpp>
#include <phyllo/io/load.hpp>
#include <phyllo/io/save.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;
using Images = Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// Per channel and per element, of an input and of the targets.
struct Physical : Network<Input<3, 4>, Normalise<>, Flatten, Linear<5>, BatchNorm<>, Tanh,
                          Linear<2>, Denormalise<MinMax>> {};
struct Elements : Network<Input<3, 4>, Normalise<PerElement>, Conv1d<3, KernelSize<1>>,
                          Denormalise<PerElement, MinMax>> {};
// Physical without its last layer: what is trained on targets without units.
struct Body : Network<Input<3, 4>, Normalise<>, Flatten, Linear<5>, BatchNorm<>, Tanh, Linear<2>> {
};
struct Between : Network<Input<3>, Tanh, Normalise<>, Linear<2>> {};

constexpr int samples = 4'011;

// A pressure far from zero, a constant, and small numbers.
double input(int n, int c, int w) {
  double const wave = std::sin(0.1 * n + 2 * w + c);
  return c == 0 ? 101'325 + 80 * wave : c == 1 ? 0.1 : 1e-5 * (wave + 0.3 * w);
}
double target(int n, int c) { return (c == 0 ? 1e6 : -3) + (1 + c) * std::cos(0.01 * n * (c + 1)); }

struct Data {
  Images x{"x", samples, 3, 4}, image{"image", samples, 3, 4};
  Rows t{"t", samples, 2};
  Data() {
    for (int n = 0; n < samples; ++n) {
      for (int c = 0; c < 3; ++c)
        for (int w = 0; w < 4; ++w)
          x(n, c, w) = input(n, c, w), image(n, c, w) = input(n + 5, c, w);
      for (int c = 0; c < 2; ++c) t(n, c) = target(n, c);
    }
  }
};

// Mean and deviation, minimum and range, by the definitions.
struct Definition {
  double mean, deviation, minimum, range;
  explicit Definition(std::vector<double> const& numbers) {
    long double sum = 0, squares = 0;
    for (double x : numbers) sum += x;
    sum /= numbers.size();
    for (double x : numbers) squares += (x - sum) * (x - sum);
    auto const [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    mean = double(sum), deviation = double(std::sqrt(squares / numbers.size()));
    minimum = *low, range = *high - *low;
    if (*low == *high) mean = *low, deviation = range = 1;
  }
};

// Running statistics are stored before them.
template <class M> std::vector<float> constants_of(M const& model) {
  Kokkos::fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, model.buffers());
  return {host.data() + M::nodes.statistics_size, host.data() + host.size()};
}
void check_close(float got, double expected) {
  CHECK(std::fabs(got - expected) <= 1e-7 * std::fabs(expected));
}

template <class C> using Fitted = Trainer<Physical, MeanSquaredError, Adam, Full<float>, C>;

}  // namespace

TEST_CASE("fit_normalisation: per channel against the definitions, the same bits on all ranks") {
  Data const data;
  Fitted<AllReduce<Mpi>> trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 1e-3}, {.batch = 8});
  fit_normalisation(trainer, ViewSource(data.x, data.t));
  auto const b = constants_of(trainer.model());
  REQUIRE(b.size() == 10);
  for (int c = 0; c < 3; ++c) {
    std::vector<double> numbers;
    for (int n = 0; n < samples; ++n)
      for (int w = 0; w < 4; ++w) numbers.push_back(input(n, c, w));
    Definition const e(numbers);
    check_close(b[std::size_t(c)], e.mean);
    check_close(b[std::size_t(3 + c)], e.deviation);
  }
  CHECK(b[4] == 1.0f);  // constant
  for (int c = 0; c < 2; ++c) {
    std::vector<double> numbers;
    for (int n = 0; n < samples; ++n) numbers.push_back(target(n, c));
    Definition const e(numbers);
    check_close(b[std::size_t(6 + c)], e.minimum);
    check_close(b[std::size_t(8 + c)], e.range);
  }
  Model<Physical> alone(Space{}, {.batch = 8});
  fit_normalisation(Space{}, alone, ViewSource(data.x, data.t));
  CHECK(constants_of(alone) == b);

  // Training, its averages over ranks, and checkpoints leave the constants as they are.
  Kokkos::View<float***, Kokkos::LayoutRight, Space> x("x", 8, 3, 4);
  Kokkos::View<float**, Kokkos::LayoutRight, Space> t("t", 8, 2);
  Kokkos::deep_copy(x, 101'300.0f), Kokkos::deep_copy(t, 5.0f);
  for (int i = 0; i < 3; ++i) trainer.step(x, t), trainer.synchronize();
  CHECK(constants_of(trainer.model()) == b);
  SharedFolder const folder;
  save_training(trainer, folder / "training.safetensors");
  Fitted<AllReduce<Mpi>> second(Space{}, MPI_COMM_WORLD, Adam{.rate = 1e-3}, {.batch = 8});
  load_training(second, folder / "training.safetensors");
  CHECK(constants_of(second.model()) == b);
  // Ranks with other constants are refused, though each has running statistics of its own.
  if (ranks_of() == 1) return;
  if (rank_of() == 1) {
    fit_normalisation(Space{}, second.model(), ViewSource(data.image, data.t));
  }
  CHECK(sentence_of([&] { second.step(x, t); }).find("got other buffers on rank 1 ") !=
        std::string::npos);
}

TEST_CASE("fit_normalisation: per element, and outputs in the units of the targets") {
  Data const data;
  Model<Elements> model(Space{}, {.batch = 8});
  fit_normalisation(Space{}, model, ViewSource(data.x, data.image));
  auto const b = constants_of(model);
  REQUIRE(b.size() == 48);
  for (int c = 0; c < 3; ++c)
    for (int w = 0; w < 4; ++w) {
      std::vector<double> x, t;
      for (int n = 0; n < samples; ++n)
        x.push_back(input(n, c, w)), t.push_back(input(n + 5, c, w));
      Definition const e(x), of_t(t);
      check_close(b[std::size_t(w * 3 + c)], e.mean);
      check_close(b[std::size_t(12 + w * 3 + c)], e.deviation);
      check_close(b[std::size_t(24 + w * 3 + c)], of_t.minimum);
      check_close(b[std::size_t(36 + w * 3 + c)], of_t.range);
    }
  // In files (C, S): as the arrays of the source.
  auto const file = to_tensors(Space{}, model);
  auto const* const mean = file.find("0.mean");
  REQUIRE(mean != nullptr);
  CHECK(mean->shape == std::vector<std::int64_t>{3, 4});
  CHECK(detail::stored_value(*mean, 4 * 2 + 1) == double(b[1 * 3 + 2]));
  Model<Elements> other(Space{}, {.batch = 8, .seed = 7});
  from_tensors(Space{}, other, file, "test");
  CHECK(constants_of(other) == b);
}

TEST_CASE("fit_normalisation: a source of each rank, and errors on all ranks") {
  Data const data;
  Fitted<AllReduce<Mpi>> trainer(Space{}, MPI_COMM_WORLD, Adam{.rate = 1e-3}, {.batch = 8});
  fit_normalisation(trainer, ViewSource(data.x, data.t));
  auto const whole = constants_of(trainer.model());
  std::pair const own(std::size_t(samples * rank_of() / ranks_of()),
                      std::size_t(samples * (rank_of() + 1) / ranks_of()));
  fit_normalisation(trainer,
                    ViewSource(Kokkos::subview(data.x, own, Kokkos::ALL, Kokkos::ALL),
                               Kokkos::subview(data.t, own, Kokkos::ALL)),
                    {.source_per_rank = true});
  auto const parts = constants_of(trainer.model());
  for (std::size_t i = 0; i < whole.size(); ++i) check_close(parts[i], double(whole[i]));

  auto const fit = [&](auto const&... views) {
    return sentence_of([&] { fit_normalisation(trainer, ViewSource(views...)); });
  };
  data.x(3'000, 2, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(fit(data.x, data.t) ==
        "SampleStatistics: View 0 (x): expected finite numbers, got nan as element 9 of sample "
        "3000. "
        "Leave out such samples.");
  CHECK(fit(data.x).find("got 1. Add the targets to the source.") != std::string::npos);
  CHECK(fit(data.t, data.x)
            .find("layer 0: expected samples with extents [3,4] in View 0 (t), got [2].") !=
        std::string::npos);
  // Each rank has samples of its own, which the call does not say.
  std::pair const first(std::size_t(0), std::size_t(100 + rank_of()));
  std::string const other = fit(Kokkos::subview(data.image, first, Kokkos::ALL, Kokkos::ALL),
                                Kokkos::subview(data.t, first, Kokkos::ALL));
  if (ranks_of() > 1) {
    CHECK(other.find("Pass the same source on all ranks, or set NormalisationOptions::") !=
          other.npos);
    CHECK(other.find(
              "got \"samples of the source: 100\" on rank 0 and \"samples of the source: 101\" "
              "on rank 1") != std::string::npos);
    CHECK(constants_of(trainer.model()) == parts);
  }
  Model<Between> between(Space{}, {.batch = 8});
  CHECK(sentence_of([&] {
          fit_normalisation(Space{}, between, ViewSource(data.t));
        }).find("expected Normalise directly behind an input") != std::string::npos);
}

TEST_CASE("fit_normalisation: offsets and spreads that float cannot state are refused") {
  struct One : Network<Input<1>, Normalise<>, Linear<1>> {};
  auto const refusal = [](auto& model, double offset, double spread) {
    Rows const x("x", 50, 1);
    for (int n = 0; n < 50; ++n) x(n, 0) = offset + spread * std::sin(double(n));
    return sentence_of([&] { fit_normalisation(Space{}, model, ViewSource(x)); });
  };
  Model<One, Full<double>> exact(Space{}, {.batch = 1});
  Model<One> rounded(Space{}, {.batch = 1});
  CHECK(refusal(exact, 101325, 0.1) == "");
  CHECK(refusal(exact, 2459000.6, 0.01).find("expected data whose offset float can state") !=
        std::string::npos);
  CHECK(refusal(exact, 0, 1e-42).find("whose spread is within the range of float") !=
        std::string::npos);
  // A constant is zero where samples are rounded as it is, not in double.
  CHECK(refusal(rounded, 1234567890.123, 0) == "");
  CHECK(refusal(exact, 1234567890.123, 0) != "");
}

TEST_CASE("NormalisedTargets: a loss without units, and outputs in the units of the targets") {
  Data const data;
  Space exec;
  Model<Physical> physical(exec, {.batch = 8});
  fit_normalisation(exec, physical, ViewSource(data.x, data.t));
  auto const b = constants_of(physical);
  using Batch = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
  using InputBatch = Kokkos::View<float***, Kokkos::LayoutRight, Space>;
  NormalisedTargets targets(exec, physical, ViewSource(data.x, data.t));
  Batches<InputBatch, Batch> batches(exec, targets, {.batch = 500, .shuffle = false, .lanes = 1});
  auto const& first = batches.next();
  auto const t = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, first.targets);
  for (int n = 0; n < 500; n += 7)
    for (int c = 0; c < 2; ++c) {
      double const expected =
          (target(n, c) - double(b[std::size_t(6 + c)])) / double(b[std::size_t(8 + c)]);
      CHECK(std::fabs(double(t(n, c)) - expected) <= 1e-7);
    }

  Trainer<Body, MeanSquaredError, Adam> trainer(exec, Adam{.rate = 0.01}, {.batch = 500});
  CHECK(copy_parameters(exec, trainer.model(), physical, {.allow_surplus = true}).surplus ==
        std::vector<std::string>{"6.minimum", "6.range"});
  trainer.step(first.inputs, first.targets);
  CHECK(trainer.loss() < 2);
  CHECK(copy_parameters(exec, physical, trainer.model(), {.allow_missing = true}).missing ==
        std::vector<std::string>{"6.minimum", "6.range"});
  Batch body("body", 500, 2), y("y", 500, 2);
  trainer.model().infer(exec, first.inputs, body);
  physical.infer(exec, first.inputs, y);
  exec.fence();
  auto const z = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, body);
  auto const in_units = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, y);
  for (int n = 0; n < 500; n += 7)
    for (int c = 0; c < 2; ++c)
      check_close(in_units(n, c),
                  double(b[std::size_t(6 + c)]) + double(b[std::size_t(8 + c)]) * double(z(n, c)));

  Model<Body> without(exec, {.batch = 8});
  CHECK(sentence_of([&] {
          NormalisedTargets(exec, without, ViewSource(data.x, data.t));
        }).find("expected a network with Denormalise, got none.") != std::string::npos);
}

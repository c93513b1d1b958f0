// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What holds for every loss: its gradient through a training step against central differences of
// its value, whole steps against steps launch by launch, and the mean over samples and positions.

#include <doctest/doctest.h>

#include <finite_difference.hpp>
#include <generic/registry.hpp>
#include <generic/subject.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

constexpr int batch = 5;

using Narrow = Network<Input<4>, Linear<9>, Tanh, Linear<3>>;
using Wide = Network<Input<2, 3, 4>, Conv2d<3, KernelSize<2>>, Tanh, Conv2d<4, KernelSize<1>>>;
// A mean and a variance above zero.
using Normal = Network<Input<4>, Linear<9>, Tanh, Linear<6>, Softplus<>>;
// Three positions by the same layers: an anchor, one like it, and another.
using Triples = Network<Input<4, 3>, Linear<9, PerPosition>, Tanh, Linear<5, PerPosition>,
                        Permute<2, 1>, Flatten>;
using Field =
    Network<Input<2, 3, 4>, Conv2d<3, KernelSize<2>>, Tanh, Conv2d<4, KernelSize<1>>, Softplus<>>;

// Class indices or values, for each position of the network's output.
template <class Net, class L> auto targets_of(int rows) {
  constexpr Shape s = Net::output;
  // Uneven parts of samples.
  [[maybe_unused]] auto const ignores = [](std::size_t i) {
    return op::ignores_labels<L> && (i % 3 == 1 || i / 5 == 2);
  };
  if constexpr (L::classes) {
    if constexpr (s.rank == 0) {
      Kokkos::View<int*, Kokkos::HostSpace> t("targets", std::size_t(rows));
      for (int n = 0; n < rows; ++n)
        t(n) = ignores(std::size_t(n)) ? -100 : (n * 7 + 1) % s.channels;
      return t;
    } else {
      Kokkos::View<int***, Kokkos::HostSpace> t(
          "targets", std::size_t(rows), std::size_t(s.spatial[1]), std::size_t(s.spatial[2]));
      for (std::size_t i = 0; i < t.size(); ++i)
        t.data()[i] = ignores(i) ? -100 : int(i * 7 + 1) % s.channels;
      return t;
    }
  } else if constexpr (op::outputs_per_target<L>() == 0) {
    return no_targets;
  } else {
    Matrix t("targets", std::size_t(rows), std::size_t(s.size() / op::outputs_per_target<L>()));
    for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = std::sin(0.7 * double(i));
    // Of probabilities, and shares of a region.
    if constexpr (std::is_same_v<L, KullbackLeibler> || std::is_same_v<L, Dice>)
      for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = std::fabs(t.data()[i]);
    return t;
  }
}
Matrix inputs_of(int rows, int columns) {
  Matrix x("x", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(0.3 + 1.9 * double(i));
  return x;
}

template <class Net, class L, FusionLevel Level, class Backend = PortableBackend,
          class P = Full<double>>
using TrainerOf = Trainer<Net, L, Sgd, P, Local, Execution<Space, Backends<Backend>, Level>>;

template <class T> std::vector<double> parameters_of(T const& trainer) {
  auto const& p = trainer.model().master();
  return {p.data(), p.data() + p.size()};
}

// The mean gradient over the batch: what one step of rate 1 takes off the parameters.
template <class Net, class L, class Backend> void check_gradient() {
  Space const exec;
  TrainerOf<Net, L, FusionLevel::segment, Backend> trainer(exec, Sgd{.rate = 1}, {.batch = batch});
  auto const x = inputs_of(batch, Net::input.size());
  auto const t = targets_of<Net, L>(batch);
  exec.fence("losses");
  auto const& p = trainer.model().parameters();
  auto const differences =
      central_differences(p.data(), p.size(), [&] { return trainer.evaluate(x, t).loss; });
  auto const before = parameters_of(trainer);
  trainer.step(x, t);
  CHECK((trainer.loss() > 0 || std::is_same_v<L, KullbackLeibler>));
  auto gradient = before;
  auto const after = parameters_of(trainer);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= after[i];
  CHECK(relative_error(gradient, differences) <= 1e-6);
}

template <class Net, class L, FusionLevel Level, class Backend, class P = Full<double>>
std::vector<double> trained(int rows) {
  Space const exec;
  TrainerOf<Net, L, Level, Backend, P> trainer(exec, Sgd{.rate = 0.1f, .momentum = 0.9f},
                                               {.batch = rows > 0 ? rows : 1});
  auto const x = inputs_of(rows, Net::input.size());
  auto const t = targets_of<Net, L>(rows);
  for (int step = 0; step < 3; ++step) trainer.step(x, t);
  exec.fence("losses");
  return parameters_of(trainer);
}

template <class L> void check_whole_steps() {
  static_assert(TrainerOf<Narrow, L, FusionLevel::segment>::whole_step);
  static_assert(!TrainerOf<Narrow, L, FusionLevel::epilogue>::whole_step);
  for (int const rows : {0, 1, 2, 15, 16, 17, 33, 150}) {
    auto const apart = trained<Narrow, L, FusionLevel::epilogue, PortableBackend>(rows);
    auto const whole = trained<Narrow, L, FusionLevel::segment, PortableBackend>(rows);
    CHECK(relative_error(apart, whole) <= 1e-13);
    CHECK(trained<Narrow, L, FusionLevel::segment, PortableBackend>(rows) == whole);
    auto const tiles = trained<Narrow, L, FusionLevel::segment, DefaultBackend>(rows);
    CHECK(relative_error(apart, tiles) <= 1e-13);
    CHECK(trained<Narrow, L, FusionLevel::segment, DefaultBackend>(rows) == tiles);
  }
}

// The loss of two samples is the mean of their losses.
template <class Net, class L> void check_mean() {
  Space const exec;
  TrainerOf<Net, L, FusionLevel::segment> trainer(exec, Sgd{}, {.batch = batch});
  auto const x = inputs_of(2, Net::input.size());
  auto const t = targets_of<Net, L>(2);
  double sum = 0;
  for (int n = 0; n < 2; ++n) {
    auto const one = std::pair<int, int>(n, n + 1);
    auto const row = Kokkos::subview(x, one, Kokkos::ALL);
    using T = std::remove_const_t<decltype(t)>;
    if constexpr (T::rank == 1)
      sum += trainer.evaluate(row, Kokkos::subview(t, one)).loss;
    else if constexpr (T::rank == 2)
      sum += trainer.evaluate(row, Kokkos::subview(t, one, Kokkos::ALL)).loss;
    else
      sum += trainer.evaluate(row, Kokkos::subview(t, one, Kokkos::ALL, Kokkos::ALL)).loss;
  }
  auto const both = trainer.evaluate(x, t);
  CHECK(both.samples == 2);
  CHECK(both.loss == doctest::Approx(sum / 2).epsilon(1e-14));
}

template <class L> void check_loss() {
  CAPTURE(L::name);
  check_gradient<Narrow, L, ReferenceBackend>();
  check_gradient<Narrow, L, PortableBackend>();
  check_gradient<Narrow, L, DefaultBackend>();
  check_gradient<Wide, L, PortableBackend>();
  check_whole_steps<L>();
  check_mean<Narrow, L>();
  check_mean<Wide, L>();
}
template <class... L> void check_all(TypeList<L...>) { (check_loss<L>(), ...); }

}  // namespace

// Gradients in whole steps and layer by layer, of rows and of images.
TEST_CASE("losses: a mean and a variance, regions, and positions without a class") {
  check_gradient<Normal, GaussianLikelihood, ReferenceBackend>();
  check_gradient<Normal, GaussianLikelihood, DefaultBackend>();
  check_gradient<Field, GaussianLikelihood, DefaultBackend>();
  check_gradient<Narrow, Dice, DefaultBackend>();
  check_gradient<Narrow, TripletMargin, DefaultBackend>();
  check_gradient<Field, UnitGaussianDivergence, DefaultBackend>();
  check_gradient<Triples, TripletMargin, DefaultBackend>();
  check_gradient<Narrow, MaskedCrossEntropy<>, ReferenceBackend>();
  check_gradient<Narrow, MaskedCrossEntropy<>, DefaultBackend>();
  check_gradient<Wide, MaskedCrossEntropy<>, DefaultBackend>();
  if constexpr (all_cases) {
    check_gradient<Normal, GaussianLikelihood, PortableBackend>();
    check_gradient<Field, GaussianLikelihood, PortableBackend>();
    check_gradient<Narrow, MaskedCrossEntropy<>, PortableBackend>();
    check_gradient<Wide, MaskedCrossEntropy<>, PortableBackend>();
    check_whole_steps<MaskedCrossEntropy<>>();
    check_whole_steps<Dice>();
  }
}

// The mean over positions that count, as CrossEntropy of these alone; Reproducible the same.
TEST_CASE("losses: ignored positions do not count in means, and wrong class indices are refused") {
  Space const exec;
  using Masked = Trainer<Wide, MaskedCrossEntropy<>, Sgd, Full<double>, Local, Execution<Space>>;
  using Bits =
      Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<3>>;
  using MaskedBits = Trainer<Wide, MaskedCrossEntropy<>, Sgd, Full<double>, Local, Bits>;
  Masked trainer(exec, Sgd{.rate = 1}, {.batch = batch});
  MaskedBits reproducible(exec, Sgd{.rate = 1}, {.batch = batch});
  auto const x = inputs_of(batch, Wide::input.size());
  auto t = targets_of<Wide, MaskedCrossEntropy<>>(batch);
  Matrix y("y", std::size_t(batch), std::size_t(Wide::output.size()));
  trainer.model().infer(exec, x, y);
  exec.fence("losses");
  int const positions = Wide::output.positions();
  double sum = 0, right = 0;
  int count = 0;
  for (int n = 0; n < batch; ++n)
    for (int p = 0; p < positions; ++p) {
      int const label = t.data()[n * positions + p];
      if (label == -100) continue;
      double exponentials = 0, largest = -1e9;
      for (int c = 0; c < 4; ++c) {
        exponentials += std::exp(y(n, c * positions + p));
        largest = std::max(largest, y(n, c * positions + p));
      }
      double const own = y(n, label * positions + p);
      sum += std::log(exponentials) - own;
      right += own == largest;
      ++count;
    }
  CHECK(count < batch * positions);
  for (Evaluation const e : {trainer.evaluate(x, t), reproducible.evaluate(x, t)}) {
    CHECK(e.loss == doctest::Approx(sum / count).epsilon(1e-13));
    CHECK(e.accuracy == doctest::Approx(right / count).epsilon(1e-13));
    CHECK(e.samples == long(double(count) / positions));
  }
  trainer.step(x, t);
  reproducible.step(x, t);
  CHECK(trainer.loss() == doctest::Approx(sum / count).epsilon(1e-13));
  CHECK(relative_error(parameters_of(trainer), parameters_of(reproducible)) <= 1e-13);
  t.data()[2] = 4;
  trainer.step(x, t);
  CHECK_THROWS_WITH_AS(trainer.loss(), doctest::Contains("got 1 outside of them, such as 4"),
                       Error);
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = -100;
  auto const before = parameters_of(trainer);
  trainer.step(x, t);
  exec.fence("losses");
  CHECK(parameters_of(trainer) == before);
}

TEST_CASE("generic: losses") { check_all(phyllo::test::Losses{}); }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A step that does not count leaves nothing behind: no parameter, no moment, no running statistic,
// and no NaN in memory that a later, smaller batch reads.

#include <phyllo/phyllo.hpp>
#include <train/kept_state.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace phyllo;
using test::kept_of;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Images : Network<Input<2, 4, 4>, Conv2d<5>, BatchNorm<>, ReLU, Flatten, Linear<3>> {};
struct Rows : Network<Input<32>, BatchNorm<>, Linear<20>, ReLU, BatchNorm<>, Linear<3>> {};
struct Narrow : Network<Input<32>, Linear<16>, ReLU, Linear<3>> {};
struct Wide : Network<Input<32>, Linear<200>, Tanh, Linear<3>> {};

template <class Net, class P, class Exec = Execution<Space>>
using TrainerOf = Trainer<Net, MeanSquaredError, Adam, P, Local, Exec>;

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}

// Three steps on batches of 7 and 3 with one bad number in between, against the same without it.
template <class Net, class P, class Exec = Execution<Space>>
void check_bad_number(double bad, bool in_targets) {
  Space const exec;
  constexpr int batch = 19;
  TrainerOf<Net, P, Exec> spoilt(exec, Adam{}, {.batch = batch, .seed = 4});
  TrainerOf<Net, P, Exec> clean(exec, Adam{}, {.batch = batch, .seed = 4});
  auto const x = values(batch, 32, 0.3), t = values(batch, 3, 0.8);
  spoilt.step(x, t);
  clean.step(x, t);
  auto const before = kept_of(spoilt);
  REQUIRE(kept_of(clean) == before);
  auto const bad_x = values(batch, 32, 0.9), bad_t = values(batch, 3, 0.1);
  if (in_targets)
    for (int n = 0; n < batch; ++n) bad_t(n, 1) = bad;
  else
    for (int n = 0; n < batch; ++n) bad_x(n, 5) = bad;
  spoilt.step(bad_x, bad_t);
  CHECK(kept_of(spoilt) == before);
  CHECK(spoilt.model().state()().skipped == clean.model().state()().skipped + 1);
  CHECK(std::isfinite(spoilt.evaluate(x, t).loss));
  for (int const samples : {3, 7}) {
    auto const few = values(samples, 32, 0.5), few_t = values(samples, 3, 0.2);
    spoilt.step(few, few_t);
    clean.step(few, few_t);
    // The loss scale of fp16 came down, which may round other gradients to zero.
    if (!P::scales_loss) CHECK(kept_of(spoilt) == kept_of(clean));
    for (double const number : kept_of(spoilt)) REQUIRE(std::isfinite(number));
  }
}

template <class Net, class P> void check_bad_numbers() {
  check_bad_number<Net, P>(not_a_number, false);
  check_bad_number<Net, P>(infinity, false);
  check_bad_number<Net, P>(not_a_number, true);
}

template <class M> std::vector<float> buffers_of(Space const& exec, M const& model) {
  exec.fence("skipped step");
  return {model.buffers().data(), model.buffers().data() + model.buffers().size()};
}

}  // namespace

TEST_CASE("skipped step: a NaN or an infinity changes nothing that is kept") {
  check_bad_numbers<Images, Mixed<fp16, float>>();
  check_bad_numbers<Rows, Full<double>>();
  check_bad_numbers<Narrow, Full<float>>();
#if defined(PHYLLO_ALL_CASES)
  check_bad_numbers<Wide, Full<float>>();
  check_bad_numbers<Images, Full<float>>();
  check_bad_numbers<Rows, Mixed<bf16, float>>();
#endif
}

TEST_CASE("skipped step: a target that is not a number, under losses of differences") {
  auto const check = [&]<class Loss>(Loss) {
    Space const exec;
    Trainer<Narrow, Loss, Sgd, Full<float>, Local, Execution<Space>> trainer(exec, Sgd{},
                                                                             {.batch = 5});
    auto const before = kept_of(trainer);
    auto const x = values(5, 32, 0.3), t = values(5, 3, 0.8);
    t(2, 1) = not_a_number;
    trainer.step(x, t);
    CHECK(kept_of(trainer) == before);
    CHECK(trainer.model().state()().skipped == 1);
  };
  check(MeanAbsoluteError{});
  check(Quantile{});
  check(Huber{});
  check(SmoothL1{});
  check(LogCosh{});
  check(BinaryCrossEntropy{});
  check(PoissonLikelihood{});
  check(Hinge{});
}

TEST_CASE("skipped step: outputs that overflow, under a loss with a margin") {
  struct Six : Network<Input<6>, Linear<6>> {};
  Space const exec;
  Trainer<Six, MultiMargin, Sgd, Mixed<fp16, float>, Local, Execution<Space>> trainer(
      exec, Sgd{.weight_decay = 0.1}, {.batch = 5});
  auto const x = values(5, 6, 0.3);
  Kokkos::deep_copy(x, 60000);
  Kokkos::View<int*, Kokkos::HostSpace> const labels("labels", 5);
  auto const before = trainer.model().parameters()(0);
  for (int step = 0; step < 3; ++step) {
    trainer.step(x, labels);
    CHECK_FALSE(std::isfinite(trainer.loss()));
  }
  CHECK(trainer.model().parameters()(0) == before);
  CHECK(trainer.model().state()().skipped == 3);
}

TEST_CASE("skipped step: Reproducible keeps its running statistics as well") {
  using Exec =
      Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;
  check_bad_number<Rows, Full<float>, Exec>(not_a_number, false);
  check_bad_number<Rows, Full<float>, Exec>(not_a_number, true);
}

TEST_CASE("skipped step: by hand, running statistics are those before the last forward") {
  Space const exec;
  using M = Model<Rows, Full<float>, Execution<Space>>;
  M model(exec, {.batch = 8});
  Optimizer<Sgd, M> optimizer(exec, model, Sgd{});
  auto const x = values(8, 32, 0.3), d = values(8, 3, 0.8);
  Matrix y("y", 8, 3);
  auto const initial = buffers_of(exec, model);
  model.forward(exec, x, y);
  auto const first = buffers_of(exec, model);
  CHECK(first != initial);
  model.backward(exec, d, 8);
  optimizer.step(exec, model);
  CHECK(buffers_of(exec, model) == first);

  // An infinite gradient of the outputs: finite statistics that do not count either.
  model.forward(exec, values(8, 32, 0.5), y);
  CHECK(buffers_of(exec, model) != first);
  d(3, 1) = infinity;
  model.backward(exec, d, 8);
  optimizer.step(exec, model);
  CHECK(buffers_of(exec, model) == first);

  // Without an optimizer: statistics that are not finite never enter; those of other channels do.
  x(2, 5) = not_a_number;
  x(3, 6) = -infinity;
  x(4, 7) = 1e30;  // its square is beyond float
  model.forward(exec, x, y);
  auto const after = buffers_of(exec, model);
  for (float const number : after) CHECK(std::isfinite(number));
  for (std::size_t c = 0; c < 32; ++c) CHECK((after[c] == first[c]) == (c >= 5 && c <= 7));
}

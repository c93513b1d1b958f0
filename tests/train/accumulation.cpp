// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Micro-batches: several accumulated ones and a step are one step on all samples together.

#include <phyllo/phyllo.hpp>
#include <sentence_of.hpp>
#include <train/kept_state.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Labels = Kokkos::View<int*, Kokkos::HostSpace>;
using Bits =
    Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<5>>;

struct Narrow : Network<Input<6>, Linear<20>, Tanh, Linear<3>> {};  // a whole step
struct Images
    : Network<Input<2, 5, 5>, Conv2d<5>, LayerNorm<>, ReLU, Flatten, Linear<140>, ReLU, Linear<3>> {
};
struct Normalized : Network<Input<6>, Linear<20>, BatchNorm<>, ReLU, Linear<3>> {};

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}
Labels labels(int rows, int step) {
  Labels t("labels", std::size_t(rows));
  for (int n = 0; n < rows; ++n) t(std::size_t(n)) = (n * 7 + step) % 3;
  return t;
}
template <class T> std::vector<double> weights(T& trainer) {
  trainer.exec().fence("accumulation");
  auto const& w = trainer.model().master();
  return {w.data(), w.data() + w.size()};
}
double distance(std::vector<double> const& a, std::vector<double> const& b) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::fabs(a[i] - b[i]));
    largest = std::max(largest, std::fabs(a[i]));
  }
  return worst / largest;
}

// The samples of a step in parts, the last of them by `step`.
template <class T, class X, class L>
void step_in_parts(T& trainer, X const& x, L const& t, std::vector<int> const& ends) {
  int begin = 0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    std::pair<int, int> const rows{begin, ends[k]};
    begin = ends[k];
    auto const part = Kokkos::subview(x, rows, Kokkos::ALL);
    auto const of_part = Kokkos::subview(t, rows);
    if (k + 1 < ends.size())
      trainer.accumulate_gradients(part, of_part);
    else
      trainer.step(part, of_part);
  }
}

template <class Net, class P, class Exec, bool IsWhole> void check(double bound) {
  using T = Trainer<Net, CrossEntropy, AdamW, P, Local, Exec>;
  static_assert(T::whole_step == IsWhole);
  Space const exec;
  AdamW const rule{.rate = 0.01, .schedule = cosine_schedule(40)};
  // A norm that some steps exceed.
  OptimizerOptions const options{.clipping = {.largest_norm = 0.2}};
  T whole(exec, rule, {.batch = 64, .seed = 3}, options);
  T parts(exec, rule, {.batch = 40, .seed = 3}, options);
  auto const initial = weights(whole);
  int clipped = 0;
  for (int step = 0; step < 12; ++step) {
    auto const x = values(64, Net::input.size(), 0.3 + step);
    auto const t = labels(64, step);
    whole.step(x, t);
    std::vector<int> const ends[] = {{10, 32, 64}, {40, 64}, {30, 30, 63, 64}, {40, 64, 64}};
    step_in_parts(parts, x, t, ends[step % 4]);
    CHECK(parts.accumulated() == 0);
    CHECK(parts.loss() == doctest::Approx(whole.loss()).epsilon(10 * bound));
    double const norm = whole.model().state()().gradient_norm;
    CHECK(parts.model().state()().gradient_norm == doctest::Approx(norm).epsilon(100 * bound));
    CHECK(parts.model().state()().loss_scale == whole.model().state()().loss_scale);
    clipped += norm > 0.2;
  }
  CHECK(clipped > 0);
  auto const wanted = weights(whole), got = weights(parts);
  CHECK(distance(wanted, got) <= bound);
  CHECK(distance(wanted, initial) > 0.05);
  CHECK(parts.model().state()().step == whole.model().state()().step);
}

}  // namespace

TEST_CASE("accumulation: micro-batches and a step are one step on the whole batch") {
  check<Narrow, Full<double>, Execution<Space>, true>(1e-12);
  check<Images, Full<double>, Execution<Space>, false>(1e-12);
  check<Narrow, Full<double>, Bits, true>(1e-12);
  PHYLLO_IN_VERIFY((check<Images, Full<double>, Bits, false>(1e-12));)
}

TEST_CASE("accumulation: in 16 bits, with one scale of the loss") {
  check<Images, Mixed<fp16, float>, Execution<Space>, false>(1e-2);
  PHYLLO_IN_VERIFY((check<Narrow, Mixed<bf16, float>, Execution<Space>, true>(1e-6));)
}

TEST_CASE_TEMPLATE("accumulation: a bad micro-batch skips the step, which leaves every bit", Exec,
                   Execution<Space>, Bits) {
  Space const exec;
  Trainer<Normalized, CrossEntropy, Adam, Full<double>, Local, Exec> trainer(exec, Adam{},
                                                                             {.batch = 16});
  auto const x = values(16, 6, 0.3), bad = values(16, 6, 0.3);
  auto const t = labels(16, 0), wrong = labels(16, 1);
  bad(3, 2) = std::numeric_limits<double>::infinity();
  wrong(5) = 3;
  trainer.step(x, t);
  auto const before = kept_of(trainer);
  trainer.accumulate_gradients(x, t);
  trainer.accumulate_gradients(bad, t);
  CHECK(trainer.accumulated() == 2);
  trainer.step(x, t);
  CHECK(kept_of(trainer) == before);
  CHECK(trainer.model().state()().skipped == 1);
  trainer.accumulate_gradients(x, wrong);
  trainer.step(x, t);
  CHECK(kept_of(trainer) == before);
  CHECK(sentence_of([&] { trainer.loss(); }).find("class ind") != std::string::npos);
  trainer.accumulate_gradients(x, t);
  trainer.step(x, t);
  CHECK(kept_of(trainer) != before);
}

TEST_CASE("accumulation: with Reproducible, running statistics are the mean over all parts") {
  Space const exec;
  using T = Trainer<
      Normalized, CrossEntropy, Sgd, Full<double>, Local,
      Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<2>>>;
  using Four = Trainer<
      Normalized, CrossEntropy, Sgd, Full<double>, Local,
      Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>>;
  auto const x = values(32, 6, 0.3);
  auto const t = labels(32, 0);
  T parts(exec, Sgd{.rate = 0.1}, {.batch = 16});
  Four whole(exec, Sgd{.rate = 0.1}, {.batch = 32});
  step_in_parts(parts, x, t, {16, 32});
  whole.step(x, t);
  auto const wanted = kept_of(whole), got = kept_of(parts);
  CHECK(distance(wanted, got) <= 1e-7);  // running statistics are floats
}

TEST_CASE("accumulation: after an error nothing is accumulated; captured steps refuse") {
  Space const exec;
  using T = Trainer<Narrow, CrossEntropy, Sgd, Full<double>, Local, Execution<Space>>;
  T trainer(exec, Sgd{.rate = 0.1}, {.batch = 16}), other(exec, Sgd{.rate = 0.1}, {.batch = 16});
  auto const x = values(16, 6, 0.3), large = values(17, 6, 0.3);
  auto const t = labels(16, 0), of_large = labels(17, 0);
  trainer.step(x, t);
  other.step(x, t);
  auto captured = trainer.capture(x, t);
  trainer.accumulate_gradients(x, t);
  CHECK(sentence_of([&] { captured.replay(); }).find("Call step for the last micro-batch") !=
        std::string::npos);
  CHECK(sentence_of([&] { trainer.capture(x, t); }).find("Call step for the last micro-batch") !=
        std::string::npos);
  CHECK_THROWS_AS(trainer.accumulate_gradients(large, of_large), Error);
  CHECK(trainer.accumulated() == 0);
  captured.replay();
  other.step(x, t);
  CHECK(kept_of(trainer) == kept_of(other));
}

TEST_CASE("accumulation: GradientSum in a loop of one's own") {
  Space const exec;
  using M = Model<Narrow, Full<double>, Execution<Space>>;
  M whole(exec, {.batch = 8, .seed = 2}), parts(exec, {.batch = 8, .seed = 2});
  Optimizer of_whole(exec, whole, Sgd{.rate = 0.5}), of_parts(exec, parts, Sgd{.rate = 0.5});
  GradientSum<double, Space> sum("sum", M::gradient_size);
  auto const x = values(8, 6, 0.3), d = values(8, 3, 1.1);
  Matrix const y("y", 8, 3);
  whole.forward(exec, x, y);
  whole.backward(exec, d, 8.0);
  of_whole.step(exec, whole);
  for (int part = 0; part < 2; ++part) {
    std::pair<int, int> const rows{4 * part, 4 * part + 4};
    parts.forward(exec, Kokkos::subview(x, rows, Kokkos::ALL),
                  Kokkos::subview(y, rows, Kokkos::ALL));
    parts.backward(exec, Kokkos::subview(d, rows, Kokkos::ALL), 4.0);
    if (part == 0) sum.add(exec, parts.gradients().data());
  }
  sum.add_to(exec, parts.gradients().data());
  of_parts.step(exec, parts);
  exec.fence("accumulation");
  double worst = 0;
  for (std::size_t i = 0; i < whole.master().size(); ++i)
    worst = std::max(worst, std::fabs(whole.master()(i) - parts.master()(i)));
  CHECK(worst <= 1e-13);
  CHECK(sum.parts() == 0);
}

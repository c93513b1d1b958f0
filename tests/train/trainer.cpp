// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>
#include <sentence_of.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using namespace phyllo;
// Whose memory the tests read and write.
using Space = Kokkos::DefaultHostExecutionSpace;
template <class Net, class L, class Rule, class P = Full<float>>
using TrainerOf = Trainer<Net, L, Rule, P, Local, Execution<Space>>;
template <class Net, class P = Full<float>> using ModelOf = Model<Net, P, Execution<Space>>;
using Host = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Narrow : Network<Input<5>, Linear<16>, Tanh, Linear<12>, ReLU, Linear<2>> {};
struct Heads;
struct a;
struct b;
struct TwoHeads : Network<Input<5>, Linear<16>, Tanh, Save<Heads>, Linear<3>, Output<a>,
                          From<Heads>, Linear<2>, Output<b>> {};

Host values(int rows, int columns, double phase) {
  Host v("values", std::size_t(rows), std::size_t(columns));
  for (int n = 0; n < rows; ++n)
    for (int i = 0; i < columns; ++i)
      v(std::size_t(n), std::size_t(i)) = std::sin(phase + 0.7 * n + 1.3 * i + 0.11 * n * i);
  return v;
}

template <class M> std::vector<double> numbers(M const& model) {
  std::vector<double> all;
  for (std::size_t i = 0; i < model.master().extent(0); ++i)
    all.push_back(double(model.master()(i)));
  return all;
}

double distance(std::vector<double> const& x, std::vector<double> const& y) {
  double d = 0, s = 0;
  for (std::size_t i = 0; i < x.size(); ++i) d += (x[i] - y[i]) * (x[i] - y[i]), s += x[i] * x[i];
  return std::sqrt(d / s);
}

template <class Rule, class P, FusionLevel Level>
std::vector<double> train(Rule const& rule, int steps) {
  Space exec;
  using E = Execution<Space, Backends<PortableBackend>, Level>;
  Trainer<Narrow, MeanSquaredError, Rule, P, Local, E> trainer(exec, rule,
                                                               {.batch = 40, .seed = 2});
  Host const x = values(37, 5, 0.2), t = values(37, 2, 1.1);
  for (int s = 0; s < steps; ++s) trainer.step(x, t);
  exec.fence();
  return numbers(trainer.model());
}

std::string refusal(auto const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("trainer: one pass over the batch equals step by step") {
  using P = Full<double>;
  static_assert(TrainerOf<Narrow, MeanSquaredError, Sgd, P>::whole_step);
  Sgd const sgd{.rate = 0.05f, .momentum = 0.9f, .nesterov = true};
  CHECK(distance(train<Sgd, P, FusionLevel::epilogue>(sgd, 5),
                 train<Sgd, P, FusionLevel::segment>(sgd, 5)) < 1e-12);
  CHECK(distance(train<Sgd, P, FusionLevel::none>(sgd, 5),
                 train<Sgd, P, FusionLevel::segment>(sgd, 5)) < 1e-12);
  using B = Mixed<bf16, float>;
  CHECK(distance(train<Sgd, B, FusionLevel::epilogue>(sgd, 5),
                 train<Sgd, B, FusionLevel::segment>(sgd, 5)) < 1e-3);
  CHECK(train<Sgd, P, FusionLevel::segment>(sgd, 5) == train<Sgd, P, FusionLevel::segment>(sgd, 5));
}

// The papers' formulas over the library's own gradients, in plain loops.
TEST_CASE("optimizers: SGD and Adam follow their formulas") {
  Space exec;
  using M = ModelOf<Narrow, Full<double>>;
  Host const x = values(8, 5, 0.2), d_y = values(8, 2, 1.1);
  Host y("y", 8, 2);
  auto const run = [&](auto const& rule, auto const& reference) {
    M model(exec, {.batch = 8, .seed = 2});
    Optimizer optimizer(exec, model, rule);
    exec.fence();
    auto w = numbers(model);
    std::vector<double> m(w.size(), 0.0), v(w.size(), 0.0);
    for (int step = 1; step <= 20; ++step) {
      model.forward(exec, x, y);
      model.backward(exec, d_y);
      exec.fence();
      for (std::size_t i = 0; i < w.size(); ++i)
        reference(w[i], model.gradients()(i), m[i], v[i], step);
      optimizer.step(exec, model);
    }
    exec.fence();
    CHECK(distance(w, numbers(model)) < 1e-6);
  };
  run(Sgd{.rate = 0.01f}, [](double& w, double g, double&, double&, int) { w -= 0.01 * g; });
  run(Sgd{.rate = 0.01f, .momentum = 0.9f, .weight_decay = 0.1f},
      [](double& w, double g, double& m, double&, int) {
        g += 0.1 * w;
        m = 0.9 * m + g;
        w -= 0.01 * m;
      });
  run(Sgd{.rate = 0.01f, .momentum = 0.9f, .nesterov = true},
      [](double& w, double g, double& m, double&, int) {
        m = 0.9 * m + g;
        w -= 0.01 * (g + 0.9 * m);
      });
  run(Sgd{.rate = 0.01f, .schedule = step_decay_schedule(5, 0.5f)},
      [](double& w, double g, double&, double&, int step) {
        w -= 0.01 * std::pow(0.5, (step - 1) / 5) * g;
      });
  run(Adam{.rate = 0.01f}, [](double& w, double g, double& m, double& v, int step) {
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w -= 0.01 * (m / (1 - std::pow(0.9, step))) /
         (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
  });
}

TEST_CASE_TEMPLATE("trainer: learns in every precision", P, Full<float>,
                   Mixed<fp16, float> PHYLLO_IN_VERIFY(, Full<double>, Mixed<bf16, float>)) {
  Kokkos::DefaultExecutionSpace const device;
  Trainer<Narrow, MeanSquaredError, Adam, P> trainer(device, Adam{.rate = 0.01f}, {.batch = 64});
  Host const on_host = values(64, 5, 0.2);
  Host wanted("t", 64, 2);
  for (std::size_t n = 0; n < 64; ++n) {
    wanted(n, 0) = on_host(n, 0) * on_host(n, 1);
    wanted(n, 1) = on_host(n, 2) - on_host(n, 3);
  }
  auto const x = Kokkos::create_mirror_view_and_copy(device, on_host);
  auto const t = Kokkos::create_mirror_view_and_copy(device, wanted);
  trainer.step(x, t);
  double const first = trainer.loss();
  for (int s = 0; s < 400; ++s) trainer.step(x, t);
  CHECK(trainer.loss() < 0.05 * first);
}

TEST_CASE("loss scaling: an overflow skips the step, and the scale recovers") {
  Space exec;
  using T = TrainerOf<Narrow, MeanSquaredError, Sgd, Mixed<fp16, float>>;
  T trainer(exec, Sgd{.rate = 0.01f}, {.batch = 8});
  Host const x = values(8, 5, 0.2);
  Host t("t", 8, 2);
  Kokkos::deep_copy(t, 30.0);  // gradients beyond float16 at the first scale
  auto const before = numbers(trainer.model());
  trainer.step(x, t);
  exec.fence();
  CHECK(numbers(trainer.model()) == before);
  CHECK(trainer.model().state()().skipped == 1);
  for (int s = 0; s < 20; ++s) trainer.step(x, t);
  exec.fence();
  CHECK(trainer.model().state()().skipped < 20);
  CHECK(numbers(trainer.model()) != before);
}

TEST_CASE("losses: two weighted heads equal the loop by hand") {
  Space exec;
  using Terms = Losses<On<a, CrossEntropy>, On<b, MeanSquaredError, 0.25>>;
  TrainerOf<TwoHeads, Terms, Sgd, Full<double>> trainer(exec, Sgd{.rate = 0.1f},
                                                        {.batch = 9, .seed = 4});
  ModelOf<TwoHeads, Full<double>> model(exec, {.batch = 9, .seed = 4});
  Optimizer optimizer(exec, model, Sgd{.rate = 0.1f});
  Host const x = values(9, 5, 0.2), t = values(9, 2, 1.1);
  Kokkos::View<long*, Kokkos::HostSpace> classes("classes", 9);
  for (std::size_t n = 0; n < 9; ++n) classes(n) = long(n * 5 % 3);
  trainer.step(x, tensors(named<b>(t), named<a>(classes)));

  Host logits("logits", 9, 3), y("y", 9, 2), d_logits("d_logits", 9, 3), d_y("d_y", 9, 2);
  model.forward(exec, x, tensors(named<a>(logits), named<b>(y)));
  exec.fence();
  for (std::size_t n = 0; n < 9; ++n) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(logits(n, c));
    for (std::size_t c = 0; c < 3; ++c)
      d_logits(n, c) = (std::exp(logits(n, c)) / sum - (long(c) == classes(n))) / 9;
    for (std::size_t i = 0; i < 2; ++i) d_y(n, i) = 0.25 * (y(n, i) - t(n, i)) / 9;
  }
  model.backward(exec, tensors(named<a>(d_logits), named<b>(d_y)));
  optimizer.step(exec, model);
  exec.fence();
  CHECK(distance(numbers(model), numbers(trainer.model())) < 1e-6);
}

TEST_CASE("views: any layout, subviews, const and gathered variables read the same") {
  Space exec;
  ModelOf<Narrow, Full<double>> model(exec, {.batch = 4});
  Host const x = values(11, 5, 0.2);
  Host y("y", 11, 2);
  model.infer(exec, x, y);  // larger than the model's batch: split
  exec.fence();
  auto const same = [&](auto const& input) {
    Kokkos::View<float**, Kokkos::LayoutLeft, Kokkos::HostSpace> out("out", 11, 2);
    model.infer(exec, input, out);
    exec.fence();
    for (std::size_t n = 0; n < 11; ++n)
      for (std::size_t i = 0; i < 2; ++i) CHECK(out(n, i) == float(y(n, i)));
  };
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 11, 5);
  Kokkos::deep_copy(left, x);
  same(left);
  same(Kokkos::View<double const**, Kokkos::LayoutLeft, Kokkos::HostSpace>(left));
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> block("block", 13, 7, 3);
  auto const part =
      Kokkos::subview(block, std::pair<int, int>(1, 12), std::pair<int, int>(2, 7), 1);
  Kokkos::deep_copy(part, x);
  same(part);
  using Field = Kokkos::View<double*, Kokkos::HostSpace>;
  Field field[5];
  for (std::size_t i = 0; i < 5; ++i) {
    field[i] = Field("field", 11);
    for (std::size_t n = 0; n < 11; ++n) field[i](n) = x(n, i);
  }
  same(gather(field[0], field[1], field[2], field[3], field[4]));
  ModelOf<Narrow, Full<double>> doubles(exec, {.batch = 11});
  CHECK(test::sentence_of([&] {
          doubles.infer(exec, x, gather(field[0], field[0]));
        }).find(", variables 0 and 1: expected memory of its own for each") != std::string::npos);
}

TEST_CASE("errors: sentences that name who, expected and got") {
  Space exec;
  TrainerOf<Narrow, MeanSquaredError, Sgd> trainer(exec, Sgd{}, {.batch = 4});
  Host const x = values(4, 5, 0.2), t = values(4, 2, 0.1), wide = values(4, 6, 0.2),
             more = values(5, 5, 0.2), more_targets = values(5, 2, 0.2);
  auto const says = [](std::string const& text, char const* what) {
    INFO(text);
    CHECK(text.find(what) != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  };
  says(refusal([&] { trainer.step(wide, t); }), "expected a View of extents (N, 5), got (4, 6)");
  says(refusal([&] { trainer.step(more, more_targets); }), "expected at most 4 samples");
  says(refusal([&] { trainer.step(x, more_targets); }),
       "expected 4 samples as in the inputs, got 5");
  says(refusal([&] { ModelOf<Narrow>(exec, {.batch = 0}); }), "the largest batch must be positive");
  ModelOf<Narrow> model(exec, {.batch = 4});
  says(refusal([&] { model.backward(exec, t); }), "backward requires a forward after the last");
  Host const none("none", 0, 5), none_either("none", 0, 2);
  auto const before = numbers(trainer.model());
  trainer.step(none, none_either);  // an empty batch is no error and no step
  exec.fence();
  CHECK(numbers(trainer.model()) == before);
}

TEST_CASE("losses: accuracy is that of the term with classes, wherever it stands") {
  Space exec;
  TrainerOf<TwoHeads, Losses<On<a, CrossEntropy>, On<b, MeanSquaredError>>, Sgd> first(exec, Sgd{});
  TrainerOf<TwoHeads, Losses<On<b, MeanSquaredError>, On<a, CrossEntropy>>, Sgd> second(exec,
                                                                                        Sgd{});
  Host const x = values(30, 5, 0.2), t = values(30, 2, 1.1);
  Kokkos::View<int*, Kokkos::HostSpace> classes("classes", 30);
  for (std::size_t n = 0; n < 30; ++n) classes(n) = int(n % 3);
  auto const targets = tensors(named<a>(classes), named<b>(t));
  CHECK(first.evaluate(x, targets).accuracy > 0);
  CHECK(first.evaluate(x, targets).accuracy == second.evaluate(x, targets).accuracy);
}

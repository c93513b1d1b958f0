// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loop by hand: gradients of inputs lead through the caller's own code, batches may be uneven.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <utility>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Encoder : Network<Input<4>, Linear<6>, Tanh> {};
struct Decoder : Network<Input<6>, Linear<5>, Sigmoid, Linear<2>> {};
struct Whole : Network<Input<4>, Linear<6>, Tanh, Linear<5>, Sigmoid, Linear<2>> {};

template <class Net> using ModelOf = Model<Net, Full<double>, Execution<Space>>;

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}

template <class M> std::vector<double> parameters_of(M const& model) {
  auto const& p = model.parameters();
  return {p.data(), p.data() + p.size()};
}

double distance(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += a[i] * a[i];
  }
  return std::sqrt(difference / norm);
}

template <class M, class O> void one_step(Space const& exec, M& model, O& optimizer, int k) {
  Matrix const x = values(7, 4, k), d_y = values(7, 6, 10 + k);
  Matrix y("y", 7, 6);
  model.forward(exec, x, y);
  model.backward(exec, d_y, 7.0);
  optimizer.step(exec, model);
  exec.fence("by hand");
}

}  // namespace

TEST_CASE("loop by hand: two models joined by the gradient of an input equal one") {
  Space const exec;
  constexpr int batch = 7;
  ModelOf<Whole> whole(exec, {.batch = batch, .seed = 3});
  ModelOf<Encoder> encoder(exec, {.batch = batch});
  ModelOf<Decoder> decoder(exec, {.batch = batch});
  exec.fence("by hand");
  auto const& all = whole.parameters();
  auto const first = encoder.parameters().size(), second = decoder.parameters().size();
  REQUIRE(all.size() == first + second);
  using Range = std::pair<std::size_t, std::size_t>;
  Kokkos::deep_copy(encoder.parameters(), Kokkos::subview(all, Range(0, first)));
  Kokkos::deep_copy(decoder.parameters(), Kokkos::subview(all, Range(first, first + second)));
  Sgd const rule{.rate = 0.05f, .momentum = 0.9f};
  Optimizer of_whole(exec, whole, rule);
  Optimizer of_encoder(exec, encoder, rule);
  Optimizer of_decoder(exec, decoder, rule);
  Matrix hidden("hidden", batch, 6), d_hidden("d_hidden", batch, 6), y("y", batch, 2),
      z("z", batch, 2), d_x("d_x", batch, 4), d_x_whole("d_x", batch, 4);
  for (int step = 0; step < 5; ++step) {
    int const rows = step == 3 ? 2 : batch;  // and an uneven batch among them
    auto const part = [&](Matrix const& m) {
      return Kokkos::subview(m, std::pair<int, int>(0, rows), Kokkos::ALL);
    };
    Matrix const x = values(rows, 4, step), d_y = values(rows, 2, 10 + step);
    whole.forward(exec, x, part(y));
    whole.backward(exec, d_y, part(d_x_whole));
    encoder.forward(exec, x, part(hidden));
    decoder.forward(exec, part(hidden), part(z));
    decoder.backward(exec, d_y, part(d_hidden));
    encoder.backward(exec, part(d_hidden), part(d_x));
    of_whole.step(exec, whole);
    of_encoder.step(exec, encoder);
    of_decoder.step(exec, decoder);
    exec.fence("by hand");
    auto const numbers = [&](Matrix const& m) {
      return std::vector<double>(m.data(), m.data() + std::size_t(rows) * m.extent(1));
    };
    CHECK(distance(numbers(y), numbers(z)) < 1e-13);
    CHECK(distance(numbers(d_x_whole), numbers(d_x)) < 1e-13);
  }
  auto joined = parameters_of(encoder);
  auto const rest = parameters_of(decoder);
  joined.insert(joined.end(), rest.begin(), rest.end());
  CHECK(distance(parameters_of(whole), joined) < 1e-13);
}

TEST_CASE("loop by hand: it equals the trainer on uneven batches, one of them empty") {
  Space const exec;
  Sgd const rule{.rate = 0.05f, .momentum = 0.9f};
  Trainer<Whole, MeanSquaredError, Sgd, Full<double>, Local, Execution<Space>> trainer(
      exec, rule, {.batch = 12, .seed = 4});
  ModelOf<Whole> model(exec, {.batch = 12, .seed = 4});
  Optimizer optimizer(exec, model, rule);
  for (int const rows : {7, 12, 0, 1, 3}) {
    Matrix const x = values(rows, 4, rows), t = values(rows, 2, 0.5 + rows);
    Matrix y("y", std::size_t(rows), 2), d_y("d_y", std::size_t(rows), 2);
    trainer.step(x, t);
    model.forward(exec, x, y);
    exec.fence("by hand");
    // The mean over channels; the sum over samples, which `rows` as the weight makes their mean.
    for (std::size_t i = 0; i < y.size(); ++i) d_y.data()[i] = y.data()[i] - t.data()[i];
    model.backward(exec, d_y, double(rows));
    optimizer.step(exec, model);
    exec.fence("by hand");
    CHECK(distance(parameters_of(model), parameters_of(trainer.model())) < 1e-13);
  }
}

TEST_CASE("loop by hand: in float16 no loss scale is applied, as in other precisions") {
  Space const exec;
  auto const moved = [&]<class P>(P) {
    Model<Encoder, P, Execution<Space>> model(exec, {.batch = 8, .seed = 3});
    Optimizer optimizer(exec, model, Sgd{.rate = 0.25f});
    exec.fence("by hand");
    auto const before = parameters_of(model);
    Matrix const x = values(8, 4, 0.5), d_y = values(8, 6, 0.1);
    Matrix y("y", 8, 6);
    model.forward(exec, x, y);
    model.backward(exec, d_y, 8.0f);
    optimizer.step(exec, model);
    exec.fence("by hand");
    auto after = parameters_of(model);
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    return after;
  };
  auto const wanted = moved(Full<double>{});
  CHECK(distance(wanted, moved(Mixed<fp16, float>{})) < 2e-2);
  CHECK(distance(wanted, moved(Mixed<bf16, float>{})) < 1e-1);
}

TEST_CASE("loop by hand: a new optimizer of a model begins anew, whatever one before it did") {
  Space const exec;
  auto const next = [&](auto const& rule, bool after_another) {
    ModelOf<Encoder> model(exec, {.batch = 7, .seed = 4});
    if (after_another) {
      Optimizer before(exec, model, Sgd{.rate = 0});
      for (int k = 0; k < 20; ++k) one_step(exec, model, before, k);
      before.set_rate(exec, model, 1e-6);
    }
    Optimizer optimizer(exec, model, rule);
    for (int k = 0; k < 3; ++k) one_step(exec, model, optimizer, k);
    return parameters_of(model);
  };
  auto const check = [&](auto const& rule) { CHECK(next(rule, false) == next(rule, true)); };
  check(Sgd{.rate = 0.1, .momentum = 0.9, .dampening = 0.5, .schedule = cosine_schedule(5)});
  check(Adam{.rate = 0.01});
  check(NAdam{.rate = 0.01});
  check(Adagrad{.rate = 0.01, .rate_decay = 1});
}

TEST_CASE("loop by hand: a model that was moved from is refused with one sentence") {
  Space const exec;
  ModelOf<Encoder> model(exec, {.batch = 3});
  ModelOf<Encoder> const other = std::move(model);
  Matrix const x = values(3, 4, 0.1);
  Matrix y("y", 3, 6);
  other.infer(exec, x, y);
  CHECK_THROWS_WITH_AS(model.infer(exec, x, y), doctest::Contains("one that was moved from"),
                       Error);
  CHECK_THROWS_WITH_AS(model.forward(exec, x, y), doctest::Contains("one that was moved from"),
                       Error);
}

TEST_CASE("loop by hand: a batch larger than the model is refused with one sentence") {
  Space const exec;
  ModelOf<Whole> model(exec, {.batch = 3});
  Matrix const x = values(4, 4, 0.1);
  Matrix y("y", 4, 2);
  std::string text;
  try {
    model.forward(exec, x, y);
  } catch (Error const& error) {
    text = error.what();
  }
  CHECK(text.find("expected at most 3 samples") != std::string::npos);
  CHECK(text.find("got 4") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
  model.infer(exec, x, y);  // inference splits it
  Matrix z("z", 4, 2);
  for (int n = 0; n < 4; ++n) {
    auto const one = std::pair<int, int>(n, n + 1);
    model.infer(exec, Kokkos::subview(x, one, Kokkos::ALL), Kokkos::subview(z, one, Kokkos::ALL));
  }
  exec.fence("by hand");
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y.data()[i] == z.data()[i]);
}

TEST_CASE("loop by hand: weights are drawn anew from the model's seed, or from another") {
  Space const exec;
  ModelOf<Decoder> model(exec, {.batch = 1, .seed = 7}), other(exec, {.batch = 1, .seed = 8});
  exec.fence("by hand");
  auto const of_seven = parameters_of(model), of_eight = parameters_of(other);
  CHECK(of_seven != of_eight);
  other.initialize(exec, KaimingUniform{}, 7);
  model.initialize(exec);
  exec.fence("by hand");
  CHECK(parameters_of(model) == of_seven);
  CHECK(parameters_of(other) == of_seven);
  other.initialize(exec);
  model.initialize(exec, XavierNormal{});
  exec.fence("by hand");
  CHECK(parameters_of(other) == of_eight);
  auto const drawn = parameters_of(model);
  model.initialize(exec, XavierNormal{}, 7);
  other.initialize(exec, XavierNormal{});
  exec.fence("by hand");
  CHECK(parameters_of(model) == drawn);
  CHECK(parameters_of(other) != drawn);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One model, several threads: inference gives every caller what a single one gets. A model for each
// thread: training does, too.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <thread>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Wide : Network<Input<16>, Linear<256>, Tanh, Linear<40>, Tanh, Linear<4>> {};
struct Narrow : Network<Input<16>, Linear<32>, Tanh, Linear<4>> {};

// An instance of one thread each, as a host's threads have.
Space instance() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) return Space(1);
#endif
  return Space();
}

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = float(std::sin(phase + 1.9 * double(i)));
  return v;
}

// Calls of two threads at once whose results differ from those of one.
template <class Infer> int wrong_calls(int calls, int rows, Infer const& infer) {
  constexpr int threads = 2;
  std::vector<Matrix> x, expected;
  for (int t = 0; t < threads; ++t) {
    x.push_back(values(rows, 16, 0.3 + 5 * t));
    expected.emplace_back("expected", rows, 4);
    infer(t, x.back(), expected.back());
  }
  std::vector<int> wrong(threads, 0);
  std::vector<std::thread> callers;
  for (int t = 0; t < threads; ++t)
    callers.emplace_back([&, t] {
      Matrix const y("y", rows, 4);
      for (int i = 0; i < calls; ++i) {
        Kokkos::deep_copy(y, -1);
        infer(t, x[std::size_t(t)], y);
        bool same = true;
        for (std::size_t k = 0; k < y.size(); ++k)
          same = same && y.data()[k] == expected[std::size_t(t)].data()[k];
        wrong[std::size_t(t)] += !same;
      }
    });
  int sum = 0;
  for (int t = 0; t < threads; ++t) {
    callers[std::size_t(t)].join();
    sum += wrong[std::size_t(t)];
  }
  return sum;
}

}  // namespace

TEST_CASE_TEMPLATE("concurrent inference: the model itself", Net, Wide, Narrow) {
  std::vector<Space> const exec{instance(), instance()};
  Model<Net, Full<float>, Execution<Space>> const model(exec[0], {.batch = 8, .seed = 2});
  CHECK(wrong_calls(2000, 2, [&](int t, Matrix const& x, Matrix const& y) {
          model.infer(exec[std::size_t(t)], x, y);
        }) == 0);
}

TEST_CASE_TEMPLATE("concurrent inference: a session for each thread", Net, Wide, Narrow) {
  std::vector<Space> const exec{instance(), instance()};
  using M = Model<Net, Full<float>, Execution<Space>>;
  M model(exec[0], {.batch = 8, .seed = 2});
  std::vector<typename M::Session> sessions;
  for (Space const& e : exec) sessions.push_back(model.inference_session(e, 3));
  CHECK(sessions[0].capacity() == 3);
  CHECK(wrong_calls(2000, 2, [&](int t, Matrix const& x, Matrix const& y) {
          sessions[std::size_t(t)].infer(x, y);
        }) == 0);

  // Sessions read the live weights, and keep their memory.
  Matrix const x = values(7, 16, 0.8), of_model("y", 7, 4), of_session("y", 7, 4);
  model.initialize(exec[0], XavierUniform{}, 9);
  model.infer(exec[0], x, of_model);
  {
    M const moved(std::move(model));
  }
  sessions[1].infer(x, of_session);
  for (std::size_t i = 0; i < of_model.size(); ++i)
    CHECK(of_session.data()[i] == of_model.data()[i]);
}

TEST_CASE("concurrent training: a trainer for each thread") {
  using T = Trainer<Narrow, MeanSquaredError, Adam, Full<float>, Local, Execution<Space>>;
  auto const train = [](Space const& exec, int t) {
    T trainer(exec, Adam{.rate = 0.01f}, {.batch = 32, .seed = std::uint64_t(1 + t)});
    Matrix const x = values(32, 16, 0.3 + t), y = values(32, 4, 0.7 + t);
    for (int i = 0; i < 200; ++i) trainer.step(x, y);
    exec.fence();
    auto const& p = trainer.model().parameters();
    return std::vector<float>(p.data(), p.data() + p.size());
  };
  std::vector<Space> const exec{instance(), instance()};
  std::vector<std::vector<float>> const alone{train(exec[0], 0), train(exec[1], 1)};
  std::vector<std::vector<float>> together(2);
  std::thread other([&] { together[1] = train(exec[1], 1); });
  together[0] = train(exec[0], 0);
  other.join();
  CHECK(together == alone);
}

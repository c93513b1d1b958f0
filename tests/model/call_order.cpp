// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls on one model in any order: either the result is that of the plain order, or a sentence
// refuses the call.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

// Layer by layer; its inference reads and writes activations in memory.
struct Wide
    : Network<Input<5>, Linear<140>, Tanh, BatchNorm<>, ReLU, Linear<130>, Tanh, Linear<3>> {};
// One segment: trained in one pass.
struct Narrow : Network<Input<5>, Linear<8>, Tanh, Linear<3>> {};

constexpr int batch = 6;

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}
template <class V> std::vector<double> copied(V const& v) {
  return {v.data(), v.data() + v.size()};
}

template <class Call> std::string refusal(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  return "accepted";
}
void refuses(std::string const& said, char const* words) {
  INFO(said);
  CHECK(said.find(words) != std::string::npos);
}

template <class Net> struct Case {
  using M = Model<Net, Full<double>, Execution<Space>>;
  using T = Trainer<Net, MeanSquaredError, Adam, Full<double>, Local, Execution<Space>>;
  Space exec;
  Matrix x = values(batch, 5, 0.1), other = values(2 * batch, 5, 0.7), d_y = values(batch, 3, 0.4),
         targets = values(2 * batch, 3, 0.9), y{"y", batch, 3}, d_x{"d_x", batch, 5},
         other_y{"other y", 2 * batch, 3};

  struct Result {
    std::vector<double> gradients, d_x;
    bool operator==(Result const&) const = default;
  };
  Result backward(M& model) const {
    model.backward(exec, d_y, d_x);
    return {copied(model.gradients()), copied(d_x)};
  }
  // What a pass forwards and one backwards give with `between` them.
  template <class Between> Result with(M& model, Between const& between) const {
    model.forward(exec, x, y);
    between();
    return backward(model);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("call order: inference and evaluation between forward and backward", Net, Wide,
                   Narrow) {
  Case<Net> const c;
  typename Case<Net>::T trainer(c.exec, {.rate = 0.01f}, {.batch = batch, .seed = 4});
  auto& model = trainer.model();
  auto const plain = c.with(model, [] {});
  CHECK((c.with(model, [&] { model.infer(c.exec, c.other, c.other_y); }) == plain));
  CHECK((c.with(model, [&] { trainer.evaluate(c.other, c.targets); }) == plain));
  CHECK((c.with(model, [&] { model.snapshot(c.exec); }) == plain));
}

TEST_CASE_TEMPLATE("call order: what backward has no values for is refused", Net, Wide, Narrow) {
  Case<Net> const c;
  typename Case<Net>::T trainer(c.exec, {.rate = 0.01f}, {.batch = batch, .seed = 4});
  auto& model = trainer.model();
  auto const targets = Kokkos::subview(c.targets, std::pair(0, batch), Kokkos::ALL);
  auto const backward = [&] { model.backward(c.exec, c.d_y); };
  auto const after = [&](auto const& between) {
    model.forward(c.exec, c.x, c.y);
    between();
    return refusal(backward);
  };
  char const* const words = "backward requires a forward after the last";
  refuses(refusal(backward), words);
  refuses(after(backward), words);  // twice
  refuses(after([&] { trainer.step(c.x, targets); }), words);
  refuses(after([&] { trainer.optimizer().step(c.exec, model); }), words);
  refuses(after([&] { model.initialize(c.exec); }), words);
  CapturedStep captured = trainer.capture(c.x, targets);
  refuses(after([&] { captured.replay(); }), words);
  std::string const path = "call_order.safetensors";
  save(c.exec, model, path);
  refuses(after([&] { load(c.exec, model, path); }), words);
  std::remove(path.c_str());
  // A refused call leaves the model usable.
  model.forward(c.exec, c.x, c.y);
  CHECK(refusal(backward) == "accepted");
}

TEST_CASE("call order: a step under Reproducible between forward and backward") {
  Case<Wide> const c;
  using Exec = Execution<Space, DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;
  Trainer<Wide, MeanSquaredError, Adam, Full<double>, Local, Exec> trainer(c.exec, {},
                                                                           {.batch = batch});
  auto& model = trainer.model();
  auto const targets = Kokkos::subview(c.targets, std::pair(0, batch), Kokkos::ALL);
  model.forward(c.exec, c.x, c.y);
  model.infer(c.exec, c.other, c.other_y);
  model.backward(c.exec, c.d_y);
  auto const plain = copied(model.gradients());
  model.forward(c.exec, c.x, c.y);
  trainer.evaluate(c.x, targets);
  model.backward(c.exec, c.d_y);
  CHECK((copied(model.gradients()) == plain));
  model.forward(c.exec, c.x, c.y);
  trainer.step(c.x, targets);
  refuses(refusal([&] { model.backward(c.exec, c.d_y); }),
          "backward requires a forward after the last");
}

TEST_CASE("call order: a clone has memory of its own") {
  Case<Wide> const c;
  Case<Wide>::M model(c.exec, {.batch = batch, .seed = 4});
  static_assert(!std::is_copy_constructible_v<Case<Wide>::M>);
  static_assert(!std::is_copy_assignable_v<Case<Wide>::M>);
  static_assert(!std::is_copy_constructible_v<Optimizer<Adam, Case<Wide>::M>>);
  model.forward(c.exec, c.x, c.y);  // moves the running statistics
  auto copy = model.clone(c.exec);
  refuses(refusal([&] { copy.backward(c.exec, c.d_y); }),
          "backward requires a forward after the last");
  CHECK(copy.capacity() == batch);
  auto const parameters = copied(model.parameters());
  Matrix const expected("expected", batch, 3), got("got", batch, 3);
  model.infer(c.exec, c.x, expected);
  model.initialize(c.exec, XavierUniform{}, 7);
  CHECK((copied(copy.parameters()) == parameters));
  CHECK((copied(model.parameters()) != parameters));
  copy.infer(c.exec, c.x, got);
  CHECK((copied(got) == copied(expected)));
  // A moved model goes on where it was, a forward included.
  copy.forward(c.exec, c.x, c.y);
  auto moved = std::move(copy);
  moved.backward(c.exec, c.d_y);
}

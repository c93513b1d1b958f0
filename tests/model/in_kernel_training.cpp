// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/train/trainer.hpp>

#include <doctest/doctest.h>
#include <model/in_kernel_calls.hpp>

// The calls inside a user's kernels between the training steps of the same model.
namespace in_kernel_test {

struct NormalizedPerceptron : Network<Input<3>, Linear<8>, BatchNorm<>, Tanh, Linear<2>> {};
struct PlainPerceptron : Network<Input<3>, Linear<8>, Tanh, Linear<2>> {};

// A tile of samples multiplies by what a call by one thread divides by.
template <class Net, class P>
bool agree(Space const& exec, Matrix<P> const& a, Matrix<P> const& b) {
  constexpr bool normalizes = Net::program::nodes.buffer_size > 0;
  return normalizes ? difference(exec, a, b) <= 16 * rounding<P> : equal<P>(exec, a, b);
}

template <class Net, class P> void train_beside_kernels() {
  Space const exec;
  Trainer<Net, MeanSquaredError, Sgd, P> trainer(exec, Sgd{.rate = 0.05f},
                                                 {.batch = samples, .seed = 3});
  Matrix<P> x("x", samples, 3), wanted("wanted", samples, 2);
  Matrix<P> y("y", samples, 2), before("before", samples, 2), expected("expected", samples, 2);
  Matrix<P> frozen("frozen", samples, 2), first("first", samples, 2);
  fill(exec, x, 0.3);
  fill(exec, wanted, 0.9);
  auto const closure = trainer.model().in_kernel();  // once, before any training
  auto const snapshot = trainer.model().snapshot(exec);
  call_by_threads(exec, closure, x, first);
  for (int step = 0; step < 4; ++step) {
    call_by_threads(exec, closure, x, before);
    trainer.step(x, wanted);
    call_by_threads(exec, closure, x, y);  // of the same instance: after the step, no fence
    trainer.model().infer(exec, x, expected);
    CHECK(agree<Net, P>(exec, y, expected));
    CHECK(difference(exec, y, before) > 1e-3);
  }
  call_by_threads(exec, snapshot.in_kernel(), x, frozen);
  CHECK(equal<P>(exec, frozen, first));
}

}  // namespace in_kernel_test

using namespace in_kernel_test;

TEST_CASE_TEMPLATE("a closure sees training steps, a snapshot does not", P, Full<float>,
                   Mixed<bf16, float>) {
  train_beside_kernels<NormalizedPerceptron, P>();
  train_beside_kernels<PlainPerceptron, P>();  // a training step in one pass
}

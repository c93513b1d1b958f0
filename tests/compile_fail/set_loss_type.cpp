// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: set_loss: the loss is of another type than the Trainer

#include <phyllo/layer/linear.hpp>
#include <phyllo/loss/cross_entropy.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/train/trainer.hpp>

using namespace phyllo;
struct Net : Network<Input<3>, Linear<5>> {};

void train() {
  Trainer<Net, MeanSquaredError, Sgd> trainer(Kokkos::DefaultExecutionSpace{}, Sgd{});
  trainer.set_loss(CrossEntropy{});
}

int main() {}

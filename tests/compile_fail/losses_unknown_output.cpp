// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Losses: On<tag, Loss> names an output that the network does not have

#include <phyllo/layer/linear.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/train/trainer.hpp>

using namespace phyllo;
struct energy;
struct force;
struct other;
struct Net : Network<Input<3>, Linear<5>, Output<energy>, Linear<2>, Output<force>> {};
using Both = Losses<On<energy, MeanSquaredError>, On<other, MeanSquaredError>>;

void train(Kokkos::View<float**> x, Kokkos::View<float**> t) {
  Trainer<Net, Both, Sgd> trainer(Kokkos::DefaultExecutionSpace{}, Sgd{});
  trainer.step(x, tensors(named<energy>(t), named<force>(t)));
}

int main() {}

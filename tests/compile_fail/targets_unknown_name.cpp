// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Losses: a View of targets has a name that no output of the network has

#include <phyllo/layer/linear.hpp>
#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/train/sgd.hpp>
#include <phyllo/train/trainer.hpp>

using namespace phyllo;
struct a;
struct b;
struct Net : Network<Input<3>, Linear<2>, Output<a>, Linear<2>, Output<b>> {};
using Both = Losses<On<a, MeanSquaredError>, On<b, MeanSquaredError>>;

void train(Trainer<Net, Both, Sgd>& trainer, Kokkos::View<float**> const& x,
           Kokkos::View<float**> const& t) {
  struct other;
  trainer.step(x, tensors(named<a>(t), named<other>(t)));
}

int main() {}

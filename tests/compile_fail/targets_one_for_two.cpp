// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Losses: expected one View of targets for each loss

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
  trainer.step(x, t);
}

int main() {}

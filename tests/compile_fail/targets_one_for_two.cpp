// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Losses: expected one View of targets for each loss

#include <phyllo/layer/linear.hpp>
#include <phyllo/train/loss_evaluation.hpp>

using namespace phyllo;
using Space = Kokkos::DefaultHostExecutionSpace;
struct a;
struct b;
struct Net : Network<Input<3>, Linear<2>, Output<a>, Linear<2>, Output<b>> {};
using Both = Losses<On<a, MeanSquaredError>, On<b, MeanSquaredError>>;

void train(LossEvaluation<Model<Net, Full<float>, Execution<Space>>, Both> const& losses,
           Kokkos::View<float**, Kokkos::HostSpace> const& t) {
  losses.bind(t, 4);
}

int main() {}

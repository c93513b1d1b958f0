// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the loss reads the channels of its output in equal parts

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<3>, Linear<5>> {};

void train(Kokkos::View<float**> x, Kokkos::View<float**> t) {
  Kokkos::DefaultExecutionSpace exec;
  Trainer<Net, GaussianLikelihood, Sgd> trainer(exec, Sgd{});
  trainer.step(x, t);
}

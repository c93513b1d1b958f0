// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: a loss that ignores a class index is the only one of a Trainer

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct a;
struct b;
struct Net : Network<Input<3>, Linear<5>, Output<a>, Linear<5>, Output<b>> {};

void train() {
  Kokkos::DefaultExecutionSpace exec;
  Trainer<Net, Losses<On<a, MaskedCrossEntropy<>>, On<b, CrossEntropy>>, Sgd> trainer(exec, Sgd{});
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Optimizer::step: this communication policy exchanges weights, which only a Trainer does

#include <phyllo/comm/local_sgd.hpp>
#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};
struct Net : Network<Input<4>, Linear<2>> {};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  Model<Net> model(exec);
  Optimizer<Sgd, Model<Net>> optimizer(exec, model, Sgd());
  LocalSgd<4, OneRank> communication{OneRank()};
  optimizer.step(exec, model, communication);
}

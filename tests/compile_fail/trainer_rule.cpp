// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Trainer: the third argument is no update rule

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct Net : Network<Input<4>, Linear<2>> {};

// No states, schedule and prepare.
struct Plain {
  double rate = 0.1;
  static constexpr char const* name = "plain";
  template <class T> PHYLLO_FUNCTION T update(T w, T g, T*, long, StepState const&) const {
    return w - T(rate) * g;
  }
};

int main() {
  Kokkos::DefaultExecutionSpace const exec;
  Trainer<Net, MeanSquaredError, Plain> trainer(exec, Plain{});
  trainer.model().initialize(exec);
}

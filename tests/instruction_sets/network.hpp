// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <vector>

struct Shared : phyllo::Network<phyllo::Input<17>, phyllo::Linear<33>, phyllo::Tanh,
                                phyllo::Linear<40>, phyllo::GELU, phyllo::Linear<3>> {};

// Defined in objects that are compiled for different processors.
std::vector<double> baseline_outputs();
std::vector<double> wide_outputs();
void pass_to_baseline(phyllo::Model<Shared>& model);

// Two training steps, then the outputs. Static: an inline function of a program's own is the same
// symbol in both objects, whatever it calls.
template <class Network> static std::vector<double> outputs_after_training() {
  using Space = Kokkos::DefaultHostExecutionSpace;
  Space const exec;
  constexpr int batch = 21;
  phyllo::Trainer<Network, phyllo::MeanSquaredError, phyllo::Adam> trainer(exec, {.rate = 0.01f},
                                                                           {.batch = batch});
  Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> x("inputs", batch, 17),
      y("outputs", batch, 3);
  for (int n = 0; n < batch; ++n)
    for (int i = 0; i < 17; ++i) x(n, i) = float((n * 17 + i) % 13) / 6 - 1;
  trainer.step(x, y);
  trainer.step(x, y);
  trainer.model().infer(exec, x, y);
  exec.fence("outputs");
  return {y.data(), y.data() + y.size()};
}

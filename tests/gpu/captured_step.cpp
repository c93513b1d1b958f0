// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: a step recorded as a graph of the runtime, with the optimizer's
// passes on the device.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
struct Perceptron : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<16>> {};

template <class P> void replay(int steps) {
  Kokkos::DefaultExecutionSpace const exec;
  Trainer<Perceptron, MeanSquaredError, Adam, P> trainer(exec, Adam{.rate = 0.01f}, {.batch = 64},
                                                         {.clipping = {.largest_norm = 1.0f}});
  Kokkos::View<float**> const inputs("inputs", 64, 16), targets("targets", 64, 16);
  trainer.step(inputs, targets);
  auto captured = trainer.capture(inputs, targets);
  static_assert(decltype(captured)::is_graph);
  for (int k = 0; k < steps; ++k) captured.replay();
  trainer.accumulate_gradients(inputs, targets);
  trainer.step(inputs, targets);
}

void gpu_captured_step(int steps) {
  replay<Mixed<bf16, float>>(steps);
  PHYLLO_IN_VERIFY(replay<Mixed<fp16, float>>(steps);)
}

}  // namespace phyllo_gpu

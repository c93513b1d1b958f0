// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: training steps of narrow perceptrons in one pass on matrix cores,
// with values that stay on chip or are stored where there is no room, and in double, for which
// there are no such kernels, layer by layer.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

// The network of workload mlp-train; one that fits the scratch memory of every device.
struct MlpTrain : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU,
                          Linear<64>, ReLU, Linear<16>> {};
// Ones whose values are stored: one stage of weights, or several, on NVIDIA's devices and AMD's.
struct DeepTrain : Network<Input<24>, Linear<128>, GELU, Linear<128>, ReLU, Linear<128>, ReLU,
                           Linear<128>, ReLU, Linear<128>, ReLU, Linear<8>> {};
struct WideTrain : Network<Input<30>, Linear<96>, Tanh, Linear<90>, Tanh, Linear<3>> {};
struct SurrogateTrain : Network<Input<24>, Linear<32>, Tanh, Linear<32>, GELU, Linear<8>> {};

template <class Net, class L, class P, class Targets> void train(Targets const& targets) {
  Space const exec;
  Trainer<Net, L, Sgd, P> trainer(exec, Sgd{.rate = 0.1f}, {.batch = 1024});
  Kokkos::View<typename P::storage**, Space> inputs("inputs", 1024, Net::input.size());
  trainer.step(inputs, targets);
}

void gpu_whole_step(Kokkos::View<int*, Space> classes, Kokkos::View<float**, Space> values) {
  train<MlpTrain, MeanSquaredError, Mixed<bf16, float>>(values);
  train<DeepTrain, CrossEntropy, Mixed<bf16, float>>(classes);
  PHYLLO_IN_VERIFY(train<DeepTrain, MeanSquaredError, Mixed<fp16, float>>(values);)
  PHYLLO_IN_VERIFY(train<WideTrain, MeanSquaredError, Full<float>>(values);)
  PHYLLO_IN_VERIFY(train<SurrogateTrain, CrossEntropy, Mixed<fp16, float>>(classes);)
  PHYLLO_IN_VERIFY(train<SurrogateTrain, MeanSquaredError, Full<float>>(values);)
  static_assert(!runs_whole_steps<SurrogateTrain, Full<double>, Execution<>>());
  PHYLLO_IN_VERIFY(train<SurrogateTrain, MeanSquaredError, Full<double>>(values);)
}

}  // namespace phyllo_gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: models on the device and on the host in one program, where those
// of the host use the processors' kernels.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using HostSpace = Kokkos::DefaultHostExecutionSpace;
using DeviceSpace = Kokkos::DefaultExecutionSpace;
static_assert(
    std::is_same_v<DefaultBackends<HostSpace>::type, Backends<HostBackend, PortableBackend>>);
#if defined(PHYLLO_HAS_CUDA_BACKEND)
static_assert(
    std::is_same_v<DefaultBackends<DeviceSpace>::type, Backends<CudaBackend, PortableBackend>>);
#else
static_assert(
    std::is_same_v<DefaultBackends<DeviceSpace>::type, Backends<HipBackend, PortableBackend>>);
#endif

struct Perceptron : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<16>> {};
struct Rows : Network<Input<16>, Linear<64>, ReLU, Linear<64>, LayerNorm<>, ReLU, Linear<16>> {};
struct Images : Network<Input<2, 8, 8>, Conv2d<8, Padding<1>>, BatchNorm<>, ReLU, MaxPool2d<2>,
                        Residual<Conv2d<8, Padding<1>>, Tanh>, GELU, Upsample<2>, AveragePool2d<2>,
                        Dropout<0.25>, Flatten, Linear<10>, Softmax> {};

template <class Net, class Space> void infer(Space const& exec) {
  Model<Net, Full<float>, Execution<Space>> const model(exec, {.batch = 8});
  Kokkos::View<float**, Space> const x("x", 8, Net::input.size()), y("y", 8, Net::output.size());
  model.infer(exec, x, y);
}
template <class Net, class L, class P, class Targets> void train(Targets const& targets) {
  HostSpace const exec;
  Trainer<Net, L, Adam, P, Local, Execution<HostSpace>> trainer(exec, Adam{.rate = 0.1f},
                                                                {.batch = 8});
  Kokkos::View<float**, HostSpace> const x("x", 8, Net::input.size());
  trainer.step(x, targets);
}

void gpu_host_models(Kokkos::View<int*, HostSpace> classes,
                     Kokkos::View<float**, HostSpace> values) {
  infer<Perceptron>(DeviceSpace());
  infer<Perceptron>(HostSpace());
  train<Images, CrossEntropy, Full<float>>(classes);
  PHYLLO_IN_VERIFY(train<Rows, MeanSquaredError, Full<double>>(values);)
  PHYLLO_IN_VERIFY(train<Perceptron, MeanSquaredError, Mixed<bf16, float>>(values);)
}

}  // namespace phyllo_gpu

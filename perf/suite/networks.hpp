// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

namespace perf {

using namespace phyllo;

// The networks of the workloads, by the names that docs/90_performance.md lists.
// clang-format off
struct Mlp : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<16>> {};
struct Mlp64 : Network<Input<64>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>> {};
struct Mlp32 : Network<Input<32>, Linear<32>, ReLU, Linear<32>, ReLU, Linear<32>, ReLU, Linear<32>> {};
struct WideMlp : Network<Input<1024>, Linear<1024>, ReLU, Linear<1024>, ReLU, Linear<1024>, ReLU, Linear<1024>> {};
struct CellSurrogate : Network<Input<24>, Linear<32>, Tanh, Linear<32>, Tanh, Linear<8>> {};
struct LeNet : Network<Input<1, 28, 28>,
    Conv2d<6, KernelSize<5>, Padding<2>>, ReLU, MaxPool2d<2>,
    Conv2d<16, KernelSize<5>>, ReLU, MaxPool2d<2>,
    Flatten, Linear<120>, ReLU, Linear<84>, ReLU, Linear<10>> {};
struct BatchNormMlp : Network<Input<16>, Linear<64>, BatchNorm<>, ReLU, Linear<64>, BatchNorm<>, ReLU,
    Linear<64>, BatchNorm<>, ReLU, Linear<64>, BatchNorm<>, ReLU, Linear<16>> {};
struct LayerNormMlp : Network<Input<16>, Linear<64>, LayerNorm<>, ReLU, Linear<64>, LayerNorm<>, ReLU,
    Linear<64>, LayerNorm<>, ReLU, Linear<64>, LayerNorm<>, ReLU, Linear<16>> {};
struct LstmForecast : Network<Input<32, 64>, LSTM<64>, Slice<2, -1>, Flatten, Linear<8>> {};
struct h;
struct c;
struct h_next;
struct c_next;
struct x;
struct LstmCell : Network<NamedInput<h, 32>, NamedInput<c, 32>, NamedInput<x, 32>,
    LSTM<32, InitialState<h, c>, FinalState<h_next, c_next>>, From<h_next>, Output<h>, From<c_next>, Output<c>> {};
struct trunk;
struct digit;
struct position;
struct TwoHeadLeNet : Network<Input<1, 28, 28>,
    Conv2d<6, KernelSize<5>, Padding<2>>, ReLU, MaxPool2d<2>,
    Conv2d<16, KernelSize<5>>, ReLU, MaxPool2d<2>, Flatten, Save<trunk>,
    Linear<120>, ReLU, Linear<84>, ReLU, Linear<10>, Output<digit>,
    From<trunk>, Linear<84>, ReLU, Linear<2>, Output<position>> {};
struct EncoderLayer : Network<Input<64, 128>, TransformerEncoderLayer<64, 4, 256>> {};
struct Transformer : Network<Input<64, 128>, Repeat<6, TransformerEncoderLayer<64, 4, 256>>> {};
// clang-format on

/// FLOPs of a training step, of one sample, as `explain` counts them.
template <class Net> constexpr double training_flops() {
  using Training = Planned<Net, Phase::training, FusionLevel::segment, int(sizeof(float))>;
  return double(plan_cost<Training>(sizeof(float), sizeof(float)).flops);
}

}  // namespace perf

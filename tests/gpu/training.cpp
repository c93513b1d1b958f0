// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: a whole training step of a convolutional network, of a narrow
// perceptron in one pass, and inference, in three precisions.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

struct GpuConvolutional
    : phyllo::Network<phyllo::Input<2, 8, 8>, phyllo::Conv2d<8, phyllo::Padding<1>>,
                      phyllo::BatchNorm<>, phyllo::ReLU, phyllo::MaxPool2d<2>,
                      phyllo::Residual<phyllo::Conv2d<8, phyllo::Padding<1>>, phyllo::Tanh>,
                      phyllo::GELU, phyllo::Upsample<2>, phyllo::AveragePool2d<2>,
                      phyllo::Dropout<0.25>, phyllo::Flatten, phyllo::Linear<10>, phyllo::Softmax> {
};
struct GpuDecoder
    : phyllo::Network<phyllo::Input<4, 8, 8>,
                      phyllo::Conv2d<8, phyllo::Dilation<2>, phyllo::ChannelGroups<2>,
                                     phyllo::CircularPadding<2>>,
                      phyllo::ReLU, phyllo::Pad<phyllo::ReflectPadding<1>>, phyllo::PixelShuffle<2>,
                      phyllo::Permute<1, 3, 2>, phyllo::ConvTranspose2d<3, phyllo::Stride<2>>> {};
// The weights of the second fit no team's registers.
struct GpuRecurrent : phyllo::Network<phyllo::Input<4, 12>, phyllo::LSTM<16, phyllo::Bidirectional>,
                                      phyllo::GRU<136>, phyllo::GlobalAveragePool, phyllo::Flatten,
                                      phyllo::Linear<16>> {};
struct gpu_memory;
struct GpuTransformer
    : phyllo::Network<phyllo::Input<4, 6>, phyllo::LearnedPositions, phyllo::Save<gpu_memory>,
                      phyllo::MultiheadAttention<2, phyllo::Rotary<>>,
                      phyllo::TransformerDecoderLayer<4, 2, 8, gpu_memory, phyllo::Causal,
                                                      phyllo::Dropout<0.1>>> {};
struct GpuStatistics
    : phyllo::Network<phyllo::Input<4, 8, 8>, phyllo::GroupNorm<2>, phyllo::ReLU,
                      phyllo::SoftmaxOver<phyllo::Axis::height>, phyllo::AdaptiveMaxPool2d<3>,
                      phyllo::Max<phyllo::Axis::width>, phyllo::Mean<phyllo::Axis::height>,
                      phyllo::LogSoftmax> {};
struct gpu_image;
struct GpuImages
    : phyllo::Network<
          phyllo::Input<4, 8, 8>, phyllo::Conv2d<4>, phyllo::BatchNorm<phyllo::Affine<false>>,
          phyllo::Dropout2d<0.25>, phyllo::Save<gpu_image>, phyllo::MaxPool2d<2>,
          phyllo::Combine<phyllo::MaxUnpool2d<2>, gpu_image>,
          phyllo::Upsample<2, phyllo::LinearInterpolation>, phyllo::LocalResponseNorm<3>,
          phyllo::AveragePool2d<3, phyllo::Stride<2>, phyllo::Padding<1>,
                                phyllo::CountPadding<false>>,
          phyllo::Resize<phyllo::OutputSize<5, 4>, phyllo::CubicInterpolation>,
          phyllo::LpPool2d<2, 2>, phyllo::SpectralConv2d<2, phyllo::Modes<1, 2>>> {};
struct GpuGate;
struct GpuMaps
    : phyllo::Network<phyllo::Input<4, 8, 8>, phyllo::Normalise<>, phyllo::GLU, phyllo::PReLU<>,
                      phyllo::Save<GpuGate>, phyllo::GlobalAveragePool, phyllo::ScaleShift,
                      phyllo::MultiplyBy<GpuGate>, phyllo::Reparameterise, phyllo::Tanh,
                      phyllo::Denormalise<phyllo::PerElement>> {};
struct GpuPerceptron : phyllo::Network<phyllo::Input<16>, phyllo::Linear<64>, phyllo::ReLU,
                                       phyllo::Linear<64>, phyllo::ReLU, phyllo::Linear<16>> {};

template <class Net, class L, class P, class Targets> void train(Targets const& targets) {
  Kokkos::DefaultExecutionSpace exec;
  phyllo::Trainer<Net, L, phyllo::Sgd, P> trainer(exec, phyllo::Sgd{.rate = 0.1f}, {.batch = 8});
  Kokkos::View<float**> inputs("inputs", 8, Net::input.size());
  Kokkos::View<float**> outputs("outputs", 8, Net::output.size());
  trainer.step(inputs, targets);
  trainer.model().infer(exec, inputs, outputs);
}

void gpu_training(Kokkos::View<int*> classes, Kokkos::View<float**> values) {
  train<GpuConvolutional, phyllo::CrossEntropy, phyllo::Full<float>>(classes);
  PHYLLO_IN_VERIFY(train<GpuRecurrent, phyllo::MeanSquaredError, phyllo::Full<float>>(values);)
  PHYLLO_IN_VERIFY(train<GpuStatistics, phyllo::MeanSquaredError, phyllo::Full<float>>(values);)
  PHYLLO_IN_VERIFY(train<GpuImages, phyllo::MeanSquaredError, phyllo::Full<float>>(values);)
  PHYLLO_IN_VERIFY(train<GpuDecoder, phyllo::MeanSquaredError, phyllo::Full<float>>(values);)
  PHYLLO_IN_VERIFY(train<GpuTransformer, phyllo::MeanSquaredError, phyllo::Full<float>>(values);)
  PHYLLO_IN_VERIFY(
      train<GpuMaps, phyllo::MeanSquaredError, phyllo::Mixed<phyllo::bf16, float>>(values);)
  PHYLLO_IN_VERIFY(
      train<GpuConvolutional, phyllo::CrossEntropy, phyllo::Mixed<phyllo::bf16, float>>(classes);)
  PHYLLO_IN_VERIFY(
      train<GpuPerceptron, phyllo::MeanSquaredError, phyllo::Mixed<phyllo::fp16, float>>(values);)
  PHYLLO_IN_VERIFY(train<GpuPerceptron, phyllo::MeanSquaredError, phyllo::Full<float>>(values);)
}

// Attention, products and rotations, of which no network of the quick check consists.
void gpu_attention(Kokkos::DefaultExecutionSpace const& exec) {
  using P = phyllo::Full<float>;
  using Attention = phyllo::op::Attention<16, phyllo::op::Chain<>>;
  using Rotation = phyllo::op::Position<phyllo::op::PositionKind::rotary>;
  using Kernels = phyllo::portable::Kernels<Attention, P>;
  Kernels::run(exec, "attention", Attention::Forward<P>{});
  Kernels::run(exec, "attention", Attention::Backward<P>{});
  phyllo::portable::Kernels<phyllo::op::Product, P>::run(exec, "product",
                                                         phyllo::op::Product::Forward<P>{});
  phyllo::portable::Kernels<Rotation, P>::run(exec, "rotation", Rotation::Forward<P>{});
}

// Kernels of rows, lookups and recurrences, of which no network here consists.
template <class P> void rows_and_lookups(Kokkos::DefaultExecutionSpace const& exec) {
  using Rows = phyllo::op::RowNormalization<phyllo::op::Chain<phyllo::Tanh>>;
  using RowKernels = phyllo::portable::Kernels<Rows, P>;
  using LookupKernels = phyllo::portable::Kernels<phyllo::op::Lookup, P>;
  RowKernels::run(exec, "rows", typename Rows::template Forward<P>{});
  RowKernels::run(exec, "rows", typename Rows::template Backward<P>{});
  LookupKernels::run(exec, "lookup", phyllo::op::Lookup::Forward<P>{});
  LookupKernels::run(exec, "lookup", phyllo::op::Lookup::BackwardParameters<P>{});
}
template <class Cell, class P> void recurrence(Kokkos::DefaultExecutionSpace const& exec) {
  using Scan = phyllo::op::Scan<Cell, 48>;
  using Kernels = phyllo::portable::Kernels<Scan, P>;
  Kernels::run(exec, "scan", typename Scan::template Forward<P>{});
  Kernels::run(exec, "scan", typename Scan::template Backward<P>{});
}
// One map with operands, parameters, noise and a chain.
struct GpuMap {
  static constexpr phyllo::MapOperand operands[] = {{.part = 0, .parts = 2},
                                                    {.part = 1, .parts = 2}};
  static constexpr phyllo::MapParameter parameters[] = {{"weight", 1}};
  static constexpr bool random = true;
  template <class T> KOKKOS_FUNCTION static T value(T a, T b, T weight, T noise) {
    return weight * a + b * noise;
  }
  template <class T>
  KOKKOS_FUNCTION static phyllo::Partials<T, 3> derivatives(T a, T, T weight, T noise) {
    return {weight, noise, a};
  }
};
template <class P> void maps(Kokkos::DefaultExecutionSpace const& exec) {
  using Op = phyllo::op::Map<GpuMap, phyllo::op::Chain<phyllo::Tanh>>;
  using Kernels = phyllo::portable::Kernels<Op, P>;
  Kernels::run(exec, "map", typename Op::template Forward<P>{});
  Kernels::run(exec, "map", typename Op::template Backward<P>{});
}
void gpu_rows_and_lookups(Kokkos::DefaultExecutionSpace const& exec) {
  rows_and_lookups<phyllo::Full<float>>(exec);
  PHYLLO_IN_VERIFY(recurrence<phyllo::op::GRUCell, phyllo::Full<float>>(exec);)
  PHYLLO_IN_VERIFY(recurrence<phyllo::op::LSTMCell, phyllo::Mixed<phyllo::bf16, float>>(exec);)
  PHYLLO_IN_VERIFY(
      recurrence<phyllo::op::RNNCell<phyllo::Activation::rectifier>, phyllo::Full<double>>(exec);)
  PHYLLO_IN_VERIFY(maps<phyllo::Full<float>>(exec);)
  PHYLLO_IN_VERIFY(rows_and_lookups<phyllo::Mixed<phyllo::bf16, float>>(exec);)
}

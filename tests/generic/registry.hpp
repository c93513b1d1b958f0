// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/type_list.hpp>
#include <phyllo/phyllo.hpp>
#include <rings.hpp>

namespace phyllo::test {

// What the generic tests run over: each layer with its smallest networks, each loss, and each
// optimizer with its options. A new one joins with one line here.

struct first_tag;
struct second_tag;

/// A user's layer: x tanh(log(1 + exp(x))).
struct UserMish : Pointwise {
  static constexpr char const* name = "mish";
  template <class T> PHYLLO_FUNCTION static T value(T x) {
    return x * Kokkos::tanh(Kokkos::log1p(Kokkos::exp(x)));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) {
    T const t = Kokkos::tanh(Kokkos::log1p(Kokkos::exp(x)));
    return t + x * (T(1) - t * t) / (T(1) + Kokkos::exp(-x));
  }
};

/// A user's layer of three values and a parameter: a b + weight c.
struct ProductSum : Map {
  static constexpr char const* name = "product_sum";
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}, {.source = 2}};
  static constexpr MapParameter parameters[] = {{.initial = 0.3}};
  template <class T> PHYLLO_FUNCTION static T value(T a, T b, T c, T weight) {
    return a * b + weight * c;
  }
  template <class T> PHYLLO_FUNCTION static Partials<T, 4> derivatives(T a, T b, T c, T weight) {
    return {b, a, weight, c};
  }
};

// Two inputs, two outputs: the order in which the generic tests give them.
struct TwoPorts : Network<NamedInput<first_tag, 3>, Linear<4>, Tanh, Save<struct hidden>,
                          NamedInput<second_tag, 2>, Linear<3>, ConcatFrom<hidden>,
                          Output<first_tag>, From<hidden>, Linear<2>, Sigmoid, Output<second_tag>> {
  using ports = TypeList<first_tag, second_tag>;
};

// Integers beside numbers, whose gradient is passed on.
struct WordsAndNumbers
    : Network<NamedIntegerInput<first_tag, 2>, Embedding<5, 3>, Flatten, Save<struct words>,
              NamedInput<second_tag, 3>, Linear<4>, Tanh, ConcatFrom<words>, Output<first_tag>,
              Linear<2>, Output<second_tag>> {
  using ports = TypeList<first_tag, second_tag>;
};

// A padding mask beside the numbers that are padded, and an attention to a saved value.
struct MaskedKeys
    : Network<NamedInput<first_tag, 3, 4>, NamedIntegerInput<second_tag, 4>, From<first_tag>,
              Linear<4, PerPosition>, SinusoidalPositions<20>, Save<struct keys>,
              TransformerDecoderLayer<4, 2, 3, keys, GELU, KeyPadding<second_tag>>,
              Output<first_tag>, CrossAttention<1, keys, KeyPadding<second_tag>, Bias<false>>,
              Output<second_tag>> {
  using ports = TypeList<first_tag, second_tag>;
};

// Two layers in both directions, from given states to the last ones.
struct BothDirections
    : Network<NamedInput<first_tag, 8>, NamedInput<second_tag, 8>,
              NamedInput<struct sequence, 3, 4>,
              LSTM<2, Layers<2>, Bidirectional, InitialState<first_tag, second_tag>,
                   FinalState<struct last_h, struct last_c>>,
              Output<first_tag>, From<last_h>, Output<second_tag>, From<last_c>, Output<sequence>> {
  using ports = TypeList<first_tag, second_tag, sequence>;
};

// Sequences of several lengths, zero among them.
struct WithLengths
    : Network<NamedIntegerInput<first_tag, 1>, NamedInput<second_tag, 2, 3>,
              GRU<3, Bidirectional, SequenceLengths<first_tag>, FinalState<struct last>>,
              Output<first_tag>, From<last>, Output<second_tag>> {
  using ports = TypeList<first_tag, second_tag>;
};

/// Whether a layer selects the largest of some numbers. A function, because nvcc takes no variable
/// templates that are specialised by a requirement.
template <class L> constexpr bool takes_maxima() {
  if constexpr (requires { requires L::kind == op::PoolingKind::maximum; })
    return true;
  else if constexpr (requires { requires op::is_maximum(L::kind); })
    return true;
  else
    return false;
}

/// Whether a layer's derivative jumps somewhere: differences are then taken away from there.
template <class L> inline constexpr bool has_kink = takes_maxima<L>();
template <> inline constexpr bool has_kink<ReLU> = true;
template <> inline constexpr bool has_kink<LeakyReLU<>> = true;
template <> inline constexpr bool has_kink<SELU> = true;
template <> inline constexpr bool has_kink<HardTanh<-0.5, 0.25>> = true;
template <> inline constexpr bool has_kink<HardSigmoid> = true;
template <class... Options> inline constexpr bool has_kink<PReLU<Options...>> = true;

namespace cases {

template <class... Networks> using List = TypeList<Networks...>;

// clang-format off
using linear       = List<Network<Input<5>, Linear<7>>, Network<Input<3>, Linear<17, Bias<false>>, Linear<1>>, Network<Input<2, 3>, Linear<17, PerPosition>, Tanh, Linear<2, PerPosition, Bias<false>>>>;
using perceptron   = List<Network<Input<3>, Linear<9>, Tanh, Linear<8>, GELU, Linear<2>>>;
using conv1d       = List<Network<Input<2, 9>, Conv1d<3, KernelSize<4>, Stride<2>, Padding<1>>> PHYLLO_IN_VERIFY(, Network<Input<3, 5>, Conv1d<2, Bias<false>>>)>;
using conv2d       = List<Network<Input<2, 5, 4>, Conv2d<3, Padding<1>>, Tanh, Conv2d<2, KernelSize<3, 2>, Stride<2, 1>, Bias<false>>> PHYLLO_IN_VERIFY(, Network<Input<17, 2, 2>, Conv2d<1, KernelSize<1>>>)>;
using conv3d       = List<Network<Input<1, 3, 4, 3>, Conv3d<2, KernelSize<2, 3, 2>, Stride<1, 2, 1>, Padding<0, 1, 1>>>>;
using dilated      = List<Network<Input<2, 7, 6>, Conv2d<3, KernelSize<3, 2>, Dilation<2, 3>, Stride<2, 1>>, Tanh> PHYLLO_IN_VERIFY(, Network<Input<2, 6>, Conv1d<2, ReflectPadding<2>, PaddingAfter<1>, Dilation<2>>>)>;
using grouped      = List<Network<Input<4, 4, 3>, Conv2d<6, ChannelGroups<2>, CircularPadding<1>>, Tanh, Conv2d<6, ChannelGroups<6>, KernelSize<2>>> PHYLLO_IN_VERIFY(, Network<Input<4, 1>, Conv1d<4, ChannelGroups<2>, KernelSize<1>>, BatchNorm<Affine<false>>, GELU, Conv1d<2, KernelSize<1>>>)>;
using transposed   = List<Network<Input<2, 2, 3>, ConvTranspose2d<2, KernelSize<3, 2>, Stride<2, 3>, Padding<1, 0>, OutputPadding<1, 0>>, Tanh, ConvTranspose2d<2, KernelSize<2>, ChannelGroups<2>, Dilation<2>, Padding<1>, Bias<false>>>, Network<Input<1, 2, 1, 2>, ConvTranspose3d<2, KernelSize<2>, Stride<3, 1, 2>>, BatchNorm<>>>;
using convnet      = List<Network<Input<1, 6, 7>, Conv2d<3, Padding<1>>, Tanh, MaxPool2d<2>, Conv2d<2, KernelSize<2>, Bias<false>>, GELU, Flatten, Linear<4>, Tanh, Linear<2>> PHYLLO_IN_VERIFY(, Network<Input<2, 9>, AveragePool1d<3, Stride<2>>, Conv1d<5, KernelSize<2>, Stride<2>>, Sigmoid, Flatten, Linear<3>>)>;
using max_pool     = List<Network<Input<2, 5, 4>, MaxPool2d<2, Stride<1, 2>, CeilMode>> PHYLLO_IN_VERIFY(, Network<Input<2, 7>, MaxPool1d<3, Stride<2>, Padding<1>>>, Network<Input<2, 5, 4>, MaxPool2d<2, Stride<1, 2>>>, Network<Input<1, 3, 4, 4>, MaxPool3d<2, Padding<1>>>)>;
using average_pool = List<Network<Input<2, 5, 6>, AveragePool2d<3, Stride<2>, Padding<1>, CountPadding<false>>, Tanh, LpPool2d<2, 2, Stride<1>>> PHYLLO_IN_VERIFY(, Network<Input<2, 7>, AveragePool1d<3, Stride<2>, Padding<1>>>, Network<Input<3, 2, 5>, GlobalAveragePool>, Network<Input<3, 6>, AveragePool1d<3, Stride<2>, Padding<1>, CeilMode>>, Network<Input<1, 3, 4, 5>, AveragePool3d<2, CeilMode, CountPadding<false>>>, Network<Input<2, 4>, WholePower<2>, LpPool1d<3, 2>>, Network<Input<2, 5, 4>, AveragePool2d<2, Stride<1, 2>>>, Network<Input<1, 3, 4, 4>, AveragePool3d<2, Padding<1>>>)>;
using upsample     = List<Network<Input<2, 2, 3>, Upsample<2>, Conv2d<2>>, Network<Input<2, 3, 2>, Upsample<2, LinearInterpolation>, Tanh, Resize<OutputSize<3, 7>, CubicInterpolation>>
                          PHYLLO_IN_VERIFY(, Network<Input<2, 3>, Upsample<3>>, Network<Input<3, 4>, Resize<OutputSize<7>, LinearInterpolation, AlignCorners>, Tanh, Resize<OutputSize<2>>>, Network<Input<1, 2, 3, 2>, Upsample<2, AlignCorners>>, Network<Input<3, 4, 3>, Conv2d<2, KernelSize<1>>, Upsample<2, CubicInterpolation, AlignCorners>, Tanh>)>;
using batch_norm   = List<Network<Input<4>, Linear<5>, BatchNorm<>, Tanh, Linear<3>, BatchNorm<Affine<false>>, Tanh, Linear<2>>, Network<Input<2, 3, 3>, Conv2d<3, KernelSize<2>, Bias<false>>, BatchNorm<Affine<false>>, GELU, BatchNorm<>> PHYLLO_IN_VERIFY(, Network<Input<3, 2, 3>, BatchNorm<Affine<false>, Epsilon<1e-2>, Momentum<0.25>>>)>;
using relu         = List<Network<Input<4>, Linear<9>, ReLU, Linear<2>> PHYLLO_IN_VERIFY(, Network<Input<6>, ReLU>)>;
using tanh         = List<Network<Input<6>, Tanh>>;
using sigmoid      = List<Network<Input<2, 3>, Sigmoid, Sigmoid>>;
using gelu         = List<Network<Input<2, 2, 2>, GELU>>;
using smooth_units = List<Network<Input<4>, Linear<5>, SiLU, Linear<4>, Mish, Linear<4>, Softplus<2.0>, Linear<3>, LogSigmoid, Softsign> PHYLLO_IN_VERIFY(, Network<Input<6>, Linear<5>, ELU<0.75>, TanhGELU, Linear<4>, CELU<1.5>>)>;
using kinked_units = List<Network<Input<4>, Linear<5>, LeakyReLU<>, Linear<4>, HardSigmoid, Linear<4>, HardSwish, Linear<3>, SELU, HardTanh<-0.5, 0.25>>>;
using user_mish         = List<Network<Input<1, 4, 4>, Conv2d<3>, BatchNorm<>, UserMish> PHYLLO_IN_VERIFY(, Network<Input<6>, UserMish, UserMish>, Network<Input<4>, Linear<5>, UserMish, Linear<3>, UserMish>)>;
using softmax      = List<Network<Input<3, 4>, Conv1d<4>, Softmax> PHYLLO_IN_VERIFY(, Network<Input<5>, Softmax>)>;
using dropout      = List<Network<Input<5>, Linear<8>, Tanh, Dropout<0.3>, Linear<3>, ChannelDropout<0.2>, Residual<Linear<3>, StochasticDepth<0.4>>, Sigmoid>, Network<Input<2, 5, 4>, Dropout2d<0.3>, Conv2d<5>, Dropout2d<0.4>, MaxPool2d<2, Stride<1>>, Tanh, Dropout2d<0.3>, Flatten, Linear<2>> PHYLLO_IN_VERIFY(, Network<Input<9>, Dropout<0.4>, AlphaDropout<0.3>>)>;
using flatten      = List<Network<Input<2, 3, 2>, Flatten, Linear<3>> PHYLLO_IN_VERIFY(, Network<Input<2, 2, 3>, Tanh, Flatten, Sigmoid>, Network<Input<1, 4>, Flatten, Softmax>)>;
using residual     = List<Network<Input<4>, Residual<Linear<4>, Tanh>, Sigmoid>, Network<Input<2, 4>, Residual<Main<Conv1d<3, Padding<1>>, Tanh>, Shortcut<Conv1d<3, KernelSize<1>>>>, Tanh>>;
using normalized_sum = List<Network<Input<4>, Linear<3>, Residual<Linear<3>, BatchNorm<>>, Tanh, Linear<2>> PHYLLO_IN_VERIFY(, Network<Input<2, 4>, Residual<Main<Conv1d<3, Padding<1>>, BatchNorm<>>, Shortcut<Conv1d<3, KernelSize<1>>, BatchNorm<>>>, GELU, Dropout<0.3>>, Network<Input<3>, Residual<BatchNorm<>>>)>;
using branch       = List<Network<Input<3>, Branch<Path<>, Path<Linear<2>>, Path<Linear<17>, Tanh>>, Linear<2>> PHYLLO_IN_VERIFY(, Network<Input<2, 3, 3>, Branch<Path<Conv2d<2>>, Path<Conv2d<3>, Tanh>>>)>;
using skips        = List<Network<Input<3>, Linear<4>, Tanh, Save<first_tag>, Linear<4>, AddFrom<first_tag>, Sigmoid, ConcatFrom<first_tag>, From<first_tag>, ConcatFrom<first_tag>, Linear<2>>>;
using ports        = List<TwoPorts>;
using embedding    = List<Network<IntegerInput<4>, Embedding<6, 3>>, WordsAndNumbers PHYLLO_IN_VERIFY(, Network<IntegerInput<1, 2, 3>, Embedding<1, 2>, Conv2d<3, KernelSize<2>>, Tanh>, Network<IntegerInput<1>, Embedding<9, 17>, Flatten, Linear<5>, GELU, Linear<2>>)>;
using layer_norm   = List<Network<Input<4>, Linear<17>, LayerNorm<>, Tanh, Linear<3>, LayerNorm<Bias<false>>> PHYLLO_IN_VERIFY(, Network<IntegerInput<3>, Embedding<5, 4>, LayerNorm<>, Dropout<0.3>>, Network<Input<5>, LayerNorm<>>, Network<Input<3, 2, 3>, LayerNorm<Affine<false>, Epsilon<1e-3>>, GELU, LayerNorm<>>)>;
using rms_norm     = List<Network<Input<1, 4>, RMSNorm<Epsilon<1e-3>>, Conv1d<6>, RMSNorm<Affine<false>>, Sigmoid> PHYLLO_IN_VERIFY(, Network<Input<4>, Linear<17>, RMSNorm<>, Tanh, Linear<3>>, Network<Input<5>, RMSNorm<>>, Network<Input<4>, Linear<6>, Residual<Linear<6>, RMSNorm<>>, Tanh, Linear<2>>)>;
using group_norm   = List<Network<Input<6, 3, 2>, GroupNorm<3>, Tanh>, Network<Input<3, 7>, InstanceNorm<>, Conv1d<4>, InstanceNorm<Affine<true>>, Sigmoid> PHYLLO_IN_VERIFY(, Network<Input<4>, Linear<12>, GroupNorm<2, Epsilon<1e-3>>, Linear<3>>, Network<Input<2, 5>, Conv1d<17>, GroupNorm<1, Affine<false>>, GELU, Dropout<0.3>>)>;
using log_softmax  = List<Network<Input<3, 4>, Conv1d<4>, SoftmaxOver<Axis::length>, Conv1d<2, KernelSize<1>>, LogSoftmaxOver<Axis::length>> PHYLLO_IN_VERIFY(, Network<Input<5>, LogSoftmax>, Network<Input<2, 3, 2, 2>, SoftmaxOver<Axis::depth>, SoftmaxOver<Axis::channels>>)>;
using reduce       = List<Network<Input<2, 3, 4>, Max<Axis::height, Axis::channels>, Conv2d<2, KernelSize<1>>, Mean<Axis::width>> PHYLLO_IN_VERIFY(, Network<Input<5>, Linear<4>, Tanh, Sum<Axis::channels>>, Network<Input<3, 2, 2, 3>, Sum<Axis::depth, Axis::width>, Max<Axis::height>>, Network<Input<7>, Max<Axis::channels>>)>;
using adaptive_pool = List<Network<Input<2, 7>, AdaptiveAveragePool1d<3>, Tanh, AdaptiveMaxPool1d<2>> PHYLLO_IN_VERIFY(, Network<Input<7, 5, 3>, AdaptiveMaxPool2d<2>>, Network<Input<2, 2, 3, 5>, AdaptiveMaxPool3d<1, 2, 3>, AdaptiveAveragePool3d<2, 2, 4>>, Network<Input<1, 5, 3>, AdaptiveAveragePool2d<4, 2>>)>;
using map          = List<Network<Input<3, 2, 2>, PReLU<PerChannel<true>>, Conv2d<2, KernelSize<1>>, PReLU<InitialValue<0.1>>, ScaleShift, Tanh, LayerScale<InitialValue<0.5>>>>;
using gates        = List<Network<Input<4, 2, 3>, GLU, SiLU, Save<first_tag>, GlobalAveragePool, Sigmoid, MultiplyBy<first_tag>, Save<second_tag>, Conv2d<1, KernelSize<1>>, Combine<ProductSum, second_tag, first_tag>, Dropout<0.2>, Save<first_tag>, MultiplyBy<first_tag>, GlobalAveragePool, Combine<Plus, second_tag>>>;
using reparameterise = List<Network<Input<6>, Linear<8>, Reparameterise, Tanh> PHYLLO_IN_VERIFY(, Network<Input<4>, Save<first_tag>, Tanh, Combine<ReparameterisePair, first_tag>, Dropout<0.3>, Combine<Subtract, first_tag>, GEGLU>)>;
using attention    = List<Network<Input<4, 3>, LearnedPositions, MultiheadAttention<2, Causal, Rotary<100>, Dropout<0.3>>>, MaskedKeys PHYLLO_IN_VERIFY(, Network<Input<2, 3>, Linear<6, PerPosition>, TransformerEncoderLayer<6, 3, 5, Tanh, NormFirst, Dropout<0.2>>>)>;
using rnn          = List<Network<Input<2, 3>, RNN<3, Nonlinearity<ReLU>, Layers<2>, Bias<false>>> PHYLLO_IN_VERIFY(, Network<Input<3, 4>, RNN<5>, Tanh>)>;
using lstm         = List<BothDirections PHYLLO_IN_VERIFY(, Network<Input<3, 4>, LSTM<5>>, Network<Input<4>, LSTM<17>, Linear<2>>)>;
using gru          = List<Network<Input<3, 4>, GRU<5, Bidirectional>>, WithLengths>;
using moves        = List<Network<Input<4, 3, 4>, Slice<2, 1>, Pad<ReflectPadding<1, 2>, PaddingAfter<1, 0>>, Conv2d<4>, Tanh, PixelShuffle<2>, Pad<ReplicatePadding<1>>, Pad<CircularPadding<0, 1>>, PixelUnshuffle<2>, ChannelShuffle<2>, Permute<3, 1, 2>, Flip<1, -1>, Crop<1, 0>, Reshape<4, 9>, Pad<Padding<1>, Fill<0.5>>>, Network<Input<1, 2, 3>, Reshape<6>, Linear<6>, Tanh, Reshape<1, 6>, BatchNorm<>, Reshape<6>, Linear<3>>
                          PHYLLO_IN_VERIFY(, Network<Input<5, 4>, Slice<1, 1, 4, 2>, Conv1d<3, KernelSize<1>>, Tanh, Slice<2, -1>, Flatten, Linear<2>>, Network<Input<2, 3, 4>, Tanh, Slice<-1, 1, -1>>, Network<Input<3, 4>, PixelUnshuffle<2>, Tanh, PixelShuffle<3>>, Network<Input<4>, Linear<12>, GELU, Reshape<4, 3>, Permute<2, 1>, Tanh, Reshape<2, 3, 1, 2>>,
                          Network<Input<1, 2, 4>, Reshape<8>, Linear<6>, Reshape<1, 6>, Tanh, Conv1d<2>, GELU, Reshape<1, 8>, Branch<Path<>, Path<Reshape<1, 2, 4>, Conv2d<3, KernelSize<1, 4>>, Reshape<1, 6>, Slice<2, 0, 1>, Pad<Padding<0>, PaddingAfter<7>>>>>)>;
using local_response = List<Network<Input<7, 2, 2>, LocalResponseNorm<5, 0.5>, Tanh, LocalResponseNorm<2, 0.25, 0.5, 2.0>> PHYLLO_IN_VERIFY(, Network<Input<3>, Linear<9>, LocalResponseNorm<3, 1.0, 1.0>, Linear<2>>, Network<Input<4>, LocalResponseNorm<67>>)>;
using spectral_convolution = List<Network<Input<2, 5, 6>, SpectralConv2d<3, Modes<2, 4>>, Tanh, SpectralConv2d<2, Modes<1, 2>>> PHYLLO_IN_VERIFY(, Network<Input<3, 7>, Residual<Main<SpectralConv1d<2, Modes<4>>>, Shortcut<Conv1d<2, KernelSize<1>>>>, GELU>, Network<Input<2, 4, 2, 3>, SpectralConv3d<2, Modes<2, 1, 2>>>)>;
using normalise    = List<Network<Input<3, 2, 2>, Normalise<PerElement, MinMax>, Conv2d<2, KernelSize<1>>, Denormalise<>> PHYLLO_IN_VERIFY(, Network<Input<3>, Normalise<>, Linear<17>, Tanh, Linear<2>, Denormalise<MinMax>>, Network<Input<2, 3>, Normalise<MinMax>, Tanh, Denormalise<PerElement>, Dropout<0.3>>)>;
using max_unpool = List<Network<Input<2, 5, 4>, Save<first_tag>, MaxPool2d<2, CeilMode>, Tanh, Combine<MaxUnpool2d<2, CeilMode>, first_tag>> PHYLLO_IN_VERIFY(, Network<Input<2, 7>, Conv1d<3>, Save<first_tag>, MaxPool1d<2, Stride<3>, Padding<1>>, Combine<MaxUnpool1d<2, Stride<3>, Padding<1>>, first_tag>, Conv1d<2>>, Network<Input<2, 3, 4, 4>, Save<first_tag>, MaxPool3d<2>, Save<second_tag>, From<first_tag>, MaxPool3d<2>, AddFrom<second_tag>, Combine<MaxUnpool3d<2>, first_tag>>, Network<Input<3, 4>, Tanh, Save<first_tag>, Combine<MaxUnpool1d<1>, first_tag>>)>;
using graph_convolution = List<Network<Input<3, 5>, GraphConvolution<4>, Tanh, SparseProduct<>> PHYLLO_IN_VERIFY(, Network<Input<2, 2, 3>, Residual<SparseProduct<>, Tanh>, GraphConvolution<17>, GELU, GraphConvolution<1, adjacency, Bias<false>>>)>;
// clang-format on

}  // namespace cases

#if defined(PHYLLO_ALL_CASES)
using Losses =
    TypeList<CrossEntropy, MeanSquaredError, SmoothedCrossEntropy, FocalLoss, MultiMargin,
             SoftCrossEntropy, BinaryCrossEntropy, MeanAbsoluteError, Huber, SmoothL1, LogCosh,
             Quantile, PoissonLikelihood, KullbackLeibler, CosineDistance, Hinge, Dice>;
#else
using Losses = TypeList<CrossEntropy, MeanSquaredError>;
#endif

template <class Check> void for_optimizers(Check const& check) {
  check(Sgd{.rate = 0.02});
  check(Sgd{.rate = 0.02, .momentum = 0.9});
  check(Sgd{.rate = 0.02, .momentum = 0.9, .nesterov = true});
  check(Sgd{.rate = 0.02, .momentum = 0.5, .weight_decay = 0.1});
  check(Sgd{.rate = 0.02, .schedule = step_decay_schedule(5, 0.7, 3)});
  check(Adam{.rate = 0.02});
  check(Adam{.rate = 0.02, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-3, .weight_decay = 0.1});
  check(Adam{.rate = 0.02, .schedule = cosine_schedule(40, 0.1, 4)});
#if defined(PHYLLO_ALL_CASES)
  check(AdamW{.rate = 0.02, .weight_decay = 0.1});
  check(AmsGrad{.rate = 0.02, .schedule = polynomial_schedule(400, 0.5)});
  check(NAdam{.rate = 0.02});
  check(RmsProp{.rate = 0.01, .momentum = 0.5});
  check(Adagrad{.rate = 0.1});
#endif
}

}  // namespace phyllo::test

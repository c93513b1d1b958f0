// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One training step of some networks on the default device, written for gradients.py, which has
// PyTorch compute the same: parameters as the kernels read them, samples, targets, the mean loss
// and the gradients of the mean.
//
// usage: conformance.gradients FOLDER

#include <phyllo/phyllo.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultExecutionSpace;

// clang-format off
struct Mlp : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<16>> {};
struct Odd : Network<Input<5>, Linear<33>, Tanh, Linear<19>, Sigmoid, Linear<3>> {};
struct Deep : Network<Input<40>, Linear<128>, GELU, Linear<128>, GELU, Linear<128>, GELU, Linear<10>> {};
struct Wide : Network<Input<300>, Linear<512>, ReLU, Linear<512, Bias<false>>, ReLU, Linear<7>> {};
struct LeNet : Network<Input<1, 28, 28>, Conv2d<6, KernelSize<5>, Padding<2>>, ReLU, MaxPool2d<2>,
                       Conv2d<16, KernelSize<5>>, ReLU, MaxPool2d<2>, Flatten, Linear<120>, ReLU, Linear<84>, ReLU,
                       Linear<10>> {};
struct Residuals : Network<Input<3, 12, 12>, Conv2d<8, Padding<1>, Bias<false>>, BatchNorm<>, GELU,
                           Residual<Main<Conv2d<8, Padding<1>, Bias<false>>, BatchNorm<>, GELU,
                                         Conv2d<8, Padding<1>, Bias<false>>, BatchNorm<>>>, GELU,
                           GlobalAveragePool, Flatten, Linear<4>> {};
struct Convolutions : Network<Input<4, 9, 8>, Conv2d<8, Dilation<2>, Padding<2>, ChannelGroups<2>, Bias<false>>, BatchNorm<>, GELU,
                              Conv2d<8, Stride<2>, CircularPadding<1>, ChannelGroups<8>>, Tanh,
                              ConvTranspose2d<6, Stride<2>, Padding<1>, OutputPadding<0, 1>, ChannelGroups<2>>, GELU,
                              ConvTranspose2d<5, KernelSize<2, 3>, Dilation<2, 1>, Bias<false>>, Tanh, Conv2d<4, ReflectPadding<1>>, GELU,
                              Conv2d<4, KernelSize<5>, ReplicatePadding<2>, Dilation<1, 2>>, GlobalAveragePool, Flatten, Linear<4>> {};
struct Moves : Network<Input<3, 8, 6>, Pad<CircularPadding<1>>, Conv2d<8>, GELU, PixelUnshuffle<2>, ChannelShuffle<4>, Conv2d<8, KernelSize<1>>, Tanh, PixelShuffle<2>,
                       Pad<ReflectPadding<2>, PaddingAfter<1>>, Slice<2, 1, 9, 2>, Flip<1, -1>, Permute<3, 1, 2>, Conv2d<6, KernelSize<1>>, GELU, Upsample<2>, Crop<1>,
                       Pad<ReplicatePadding<1, 0>>, Reshape<4, 36>, Conv1d<4>, Tanh, Pad<Padding<1>, Fill<0.5>>, Flatten, Linear<4>> {};
struct Operators : Network<Input<2, 9, 8>, Conv2d<6, KernelSize<1>>, Residual<SpectralConv2d<6, Modes<2, 3>>>, GELU, SpectralConv2d<4, Modes<4, 5>>, Tanh,
                           Reshape<4, 72>, SpectralConv1d<5, Modes<9>>, GELU, Reshape<5, 6, 4, 3>, SpectralConv3d<3, Modes<2, 2, 2>>, Tanh, Flatten, Linear<4>> {};
struct Rows : Network<Input<20>, Linear<48>, LayerNorm<>, GELU, Linear<129>, RMSNorm<>, Tanh, Linear<4>> {};
struct GroupsAndAxes : Network<Input<6, 9, 8>, Conv2d<8, Padding<1>>, GroupNorm<4>, GELU, AdaptiveAveragePool2d<5, 4>,
                       InstanceNorm<Affine<true>>, Tanh, SoftmaxOver<Axis::height>, Conv2d<12, Padding<1>>,
                       GroupNorm<1, Affine<false>, Epsilon<1e-3>>, AdaptiveMaxPool2d<3>, Max<Axis::width>, Mean<Axis::height>, Flatten,
                       Linear<5>, LogSoftmax> {};
struct Images : Network<Input<3, 12, 9>, Conv2d<8, Bias<false>>, BatchNorm<Affine<false>, Epsilon<1e-3>>, GELU, AveragePool2d<3, Stride<2>, Padding<1>, CountPadding<false>>,
                       Upsample<2, CubicInterpolation>, Conv2d<12, KernelSize<1>>, LocalResponseNorm<5, 0.5>, Upsample<2, LinearInterpolation>,
                       LayerNorm<Bias<false>>, AveragePool2d<4, Stride<3>, Padding<1>, CeilMode>, Resize<OutputSize<7, 5>, LinearInterpolation, AlignCorners>, Tanh,
                       MaxPool2d<2, CeilMode>, Resize<OutputSize<5, 4>, CubicInterpolation, AlignCorners>, Conv2d<4, KernelSize<2>>, LpPool2d<2, 2>, Flatten, Linear<4>> {};
struct image;
struct Unpooled : Network<Input<3, 10, 9>, Conv2d<6, Padding<1>>, Save<image>, MaxPool2d<2, Stride<3>, Padding<1>>, Conv2d<6, Padding<1>>, Tanh,
                          Combine<MaxUnpool2d<2, Stride<3>, Padding<1>>, image>, Conv2d<4>, Flatten, Linear<4>> {};
struct features;
struct Gates : Network<Input<3, 6, 5>, Conv2d<16, Padding<1>>, GLU, PReLU<PerChannel<true>>, Save<features>, GlobalAveragePool,
                       Conv2d<8, KernelSize<1>>, Sigmoid, MultiplyBy<features>, LayerScale<InitialValue<0.5>>, ScaleShift,
                       Conv2d<8, KernelSize<1>>, SwiGLU, PReLU<>, GlobalAveragePool, Flatten, Linear<4>> {};
struct Physical : Network<Input<3, 4, 5>, Normalise<PerElement>, Conv2d<6>, Tanh, Denormalise<>, Flatten, Linear<4>, Denormalise<MinMax>> {};
struct Words : Network<IntegerInput<7>, Embedding<23, 12>, LayerNorm<>, Flatten, Linear<33>, GELU, RMSNorm<Epsilon<1e-3>>,
                       Linear<5>> {};
struct Units : Network<Input<12>, Linear<24>, SiLU, Linear<24>, Mish, Linear<24>, Softplus<>, Linear<24>, LogSigmoid, Linear<24>,
                       Softsign, Linear<24>, ELU<0.75>, Linear<24>, CELU<1.5>, Linear<24>, SELU, Linear<24>, LeakyReLU<0.125>,
                       Linear<24>, TanhGELU, Linear<24>, HardSwish, Linear<4>> {};
struct Small : Network<Input<6>, Linear<16>, Tanh, Linear<4>> {};
struct Encoder : Network<Input<8, 9>, Linear<12, PerPosition>, LearnedPositions, TransformerEncoderLayer<12, 3, 20, GELU, NormFirst>,
                         SinusoidalPositions<>, TransformerEncoderLayer<12, 2, 16, Causal, Epsilon<1e-3>>, Flatten, Linear<5>> {};
struct words;
struct memory;
struct Decoder : Network<NamedIntegerInput<words, 20>, Embedding<2, 12>, Save<memory>, Linear<12, PerPosition, Bias<false>>, LearnedPositions,
                         TransformerDecoderLayer<12, 3, 20, memory, Causal>, MultiheadAttention<2, KeyPadding<words>>,
                         TransformerDecoderLayer<12, 2, 16, memory, NormFirst, KeyPadding<words>>, Flatten, Linear<5>> {};
struct Sequences : Network<Input<6, 9>, LSTM<12, Layers<2>, Bidirectional>, RNN<7>, RNN<20, Nonlinearity<ReLU>, Bias<false>>,
                           GRU<17, Layers<2>, Bidirectional>, GRU<5>, Flatten, Linear<4>> {};
// From initial states that are computed to the last ones of sequences of several lengths.
struct sequence;
struct mean;
struct h0;
struct c0;
struct h;
struct c;
struct gru_h;
struct valid;
struct States : Network<NamedInput<sequence, 6, 9>, NamedIntegerInput<valid, 1>, From<sequence>, GlobalAveragePool, Flatten, Save<mean>,
                        Linear<20>, Save<h0>, From<mean>, Linear<20>, Save<c0>, From<sequence>,
                        LSTM<5, Layers<2>, Bidirectional, InitialState<h0, c0>, FinalState<h, c>, SequenceLengths<valid>>,
                        GRU<20, FinalState<gru_h>, InitialState<h>, SequenceLengths<valid>>, GlobalAveragePool, Flatten, ConcatFrom<gru_h>,
                        ConcatFrom<c>, Linear<4>> {
  using lengths = valid;
};
// clang-format on

template <class T> void append(StoredTensor& tensor, T value) {
  auto const at = tensor.bytes.size();
  tensor.bytes.resize(at + sizeof value);
  std::memcpy(tensor.bytes.data() + at, &value, sizeof value);
}
template <class V> auto on_host(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}
std::vector<std::int64_t> extents(Shape s, int batch) {
  std::vector<std::int64_t> all{batch, s.channels};
  for (int d = 3 - s.rank; d < 3; ++d) all.push_back(s.spatial[d]);
  return all;
}

// Samples and targets as files have them, and as Views on the device; numbers in [-1, 1).
template <class T, class V> StoredTensor draw(V const& view, char const* name, unsigned seed) {
  StoredTensor tensor{name, ElementType::f32, {}, {}};
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i) {
    float const x = 2 * random_uniform(seed, 0, 0, i, 0) - 1;
    host.data()[i] = T(x);
    append(tensor, float(host.data()[i]));
  }
  Kokkos::deep_copy(view, host);
  return tensor;
}

// The same of indices from `first` on.
template <class V>
StoredTensor draw_indices(V const& view, char const* name, unsigned seed, int count,
                          int first = 0) {
  StoredTensor tensor{name, ElementType::i32, {}, {}};
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.size(); ++i)
    append(tensor, host.data()[i] = first + int(random_uniform(seed, 0, 0, i, 0) * float(count)));
  Kokkos::deep_copy(view, host);
  return tensor;
}

template <class Net, class L, class P>
void write(std::string const& folder, char const* network, char const* dtype) {
  using S = typename P::storage;
  constexpr int batch = 203;  // no multiple of a tile
  Space const exec;
  Trainer<Net, L, Sgd, P> trainer(exec, Sgd{.rate = 0}, {.batch = batch, .seed = 7});
  auto& model = trainer.model();
  constexpr auto statistics = std::size_t(Net::program::nodes.statistics_size);
  auto const buffers = on_host(model.buffers());
  for (std::size_t i = statistics; i < buffers.size(); ++i)
    buffers(i) = 0.5f + random_uniform(4, 0, 0, i, 0);
  Kokkos::deep_copy(exec, model.buffers(), buffers);
  model.weights_changed(exec);

  TensorFile file;
  auto const x = [&] {
    if constexpr (Ports<Net>::takes_integers(0)) {
      Kokkos::View<int**, Kokkos::LayoutRight, Space> indices("x", batch, Net::input.size());
      constexpr int entries = At<typename Net::program::leaves, 1>::entries;
      file.tensors.push_back(draw_indices(indices, "input", 1, entries));
      return indices;
    } else {
      Kokkos::View<S**, Kokkos::LayoutRight, Space> numbers("x", batch, Net::input.size());
      file.tensors.push_back(draw<S>(numbers, "input", 1));
      return numbers;
    }
  }();
  file.tensors.back().shape = extents(Net::input, batch);
  auto const targets = [&] {
    if constexpr (L::classes) {
      Kokkos::View<int*, Space> labels("labels", batch);
      file.tensors.push_back(draw_indices(labels, "target", 2, Net::output.size()));
      file.tensors.back().shape = {batch};
      return labels;
    } else {
      Kokkos::View<float**, Kokkos::LayoutRight, Space> wanted("targets", batch,
                                                               Net::output.size());
      file.tensors.push_back(draw<float>(wanted, "target", 2));
      file.tensors.back().shape = {batch, Net::output.size()};
      return wanted;
    }
  }();

  auto const inputs = [&] {
    if constexpr (requires { typename Net::lengths; }) {
      Kokkos::View<int**, Kokkos::LayoutRight, Space> lengths("lengths", batch, 1);
      file.tensors.push_back(draw_indices(lengths, "lengths", 3, Net::input.positions(), 1));
      file.tensors.back().shape = {batch};
      return tensors(named<sequence>(x), named<typename Net::lengths>(lengths));
    } else {
      return x;
    }
  }();

  // The loss is scaled for 16 bits; where that overflows, the next step has half the scale.
  double scale = 0;
  auto gradients = on_host(model.gradients());
  for (bool finite = false; !finite;) {
    scale = double(on_host(model.state())().loss_scale);
    trainer.step(inputs, targets);
    exec.fence("step");
    gradients = on_host(model.gradients());
    finite = true;
    for (std::size_t i = 0; i < gradients.size(); ++i) finite &= std::isfinite(gradients(i));
  }
  double const samples = double(gradients(std::size_t(Net::program::nodes.arena_size)));
  StoredTensor loss{"loss", ElementType::f64, {}, {}};
  append(loss, trainer.loss());
  file.tensors.push_back(loss);
  auto const parameters = on_host(model.parameters());
  for (ParameterEntry const& entry : parameter_table<Net>()) {
    if (entry.is_buffer && std::size_t(entry.offset) < statistics) continue;
    auto const place = [&](std::string const& name, auto const& value) {
      auto& tensor = detail::tensor_of(file, entry, name, ElementType::f64);
      for (long i = 0; i < entry.size(); ++i) {
        double const number = value(std::size_t(entry.arena_index(i)));
        std::memcpy(tensor.bytes.data() + std::size_t(entry.first + i) * sizeof number, &number,
                    sizeof number);
      }
    };
    place(entry.name, [&](std::size_t at) {
      return entry.is_buffer ? double(buffers(at)) : double(parameters(at));
    });
    if (entry.is_buffer) continue;
    place("gradient." + entry.name,
          [&](std::size_t at) { return double(gradients(at)) / (scale * samples); });
  }
  file.metadata = {
      {"network", network}, {"loss", L::name}, {"dtype", dtype}, {"space", Space::name()}};
  std::string const name = network == std::string("small") ? L::name : network;
  write_safetensors(folder + "/" + name + "-" + dtype + ".safetensors", file);
}

template <class Net, class L> void write_all(std::string const& folder, char const* network) {
  write<Net, L, Full<double>>(folder, network, "f64");
  write<Net, L, Full<float>>(folder, network, "f32");
  write<Net, L, Mixed<bf16, float>>(folder, network, "bf16");
  write<Net, L, Mixed<fp16, float>>(folder, network, "f16");
}

template <class... L> void write_losses(std::string const& folder) {
  (write<Small, L, Full<double>>(folder, "small", "f64"), ...);
  (write<Small, L, Full<float>>(folder, "small", "f32"), ...);
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: conformance.gradients FOLDER\n");
    return 2;
  }
  try {
    write_all<Mlp, MeanSquaredError>(argv[1], "mlp");
    write_all<Odd, MeanSquaredError>(argv[1], "odd");
    write_all<Deep, CrossEntropy>(argv[1], "deep");
    write_all<Wide, CrossEntropy>(argv[1], "wide");
    write_all<LeNet, CrossEntropy>(argv[1], "lenet");
    write_all<Residuals, CrossEntropy>(argv[1], "residuals");
    write_all<Convolutions, CrossEntropy>(argv[1], "convolutions");
    write_all<Moves, CrossEntropy>(argv[1], "moves");
    write_all<Operators, MeanSquaredError>(argv[1], "operators");
    write_all<Rows, MeanSquaredError>(argv[1], "rows");
    write_all<GroupsAndAxes, MeanSquaredError>(argv[1], "groups");
    write_all<Images, MeanSquaredError>(argv[1], "images");
    write_all<Unpooled, MeanSquaredError>(argv[1], "unpooled");
    write_all<Gates, MeanSquaredError>(argv[1], "gates");
    write_all<Physical, MeanSquaredError>(argv[1], "physical");
    write_all<Words, CrossEntropy>(argv[1], "words");
    write_all<Units, MeanSquaredError>(argv[1], "units");
    write_losses<SmoothedCrossEntropy, MultiMargin, MeanAbsoluteError, Huber, SmoothL1,
                 BinaryCrossEntropy, PoissonLikelihood, CosineDistance, SoftCrossEntropy>(argv[1]);
    write_all<Encoder, MeanSquaredError>(argv[1], "encoder");
    write_all<Decoder, CrossEntropy>(argv[1], "decoder");
    write_all<Sequences, CrossEntropy>(argv[1], "sequences");
    write_all<States, CrossEntropy>(argv[1], "states");
  } catch (std::exception const& error) {
    std::fprintf(stderr, "conformance.gradients: %s\n", error.what());
    return 1;
  }
}

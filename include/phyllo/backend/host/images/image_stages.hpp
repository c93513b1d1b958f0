// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/conv_tile.hpp>
#include <phyllo/backend/host/images/image_chain.hpp>
#include <phyllo/backend/host/images/image_layout.hpp>
#include <phyllo/backend/host/images/image_transfer.hpp>
#include <phyllo/backend/host/images/pool_tile.hpp>
#include <phyllo/backend/host/segment/gradient_tensors.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// The convolutions and poolings of a segment on a tile of samples, in groups of as many as a
/// vector has lanes.
///
/// options  Training: there are gradients · InputGradient: of the images as well
/// state    a thread's memory, ImageLayout::size numbers
template <class Layers, class P, bool Training, bool InputGradient = false> class ImageStages {
  using Layout = ImageLayout<Layers, P, Training, InputGradient>;
  using A = typename P::accumulate;
  using Gradients = GradientTensors<A>;
  static constexpr int layers = Layout::layers;
  template <int L> using Op = typename Layout::template Op<L>;
  template <int L> static constexpr ImagePlace value_place = Layout::template value_place<L>();
  template <int L>
  static constexpr ImagePlace gradient_place = Layout::template gradient_place<L>();
  template <int L> static constexpr bool is_convolution = Layout::template is_convolution<L>;
  template <int L>
  using Chain = ImageChain<typename Op<L>::chain, P, Layout::template value_place<L + 1>()>;
  template <int L>
  using Gradient = ConvGradient<A, Layout::template value_place<L>(),
                                Layout::template gradient_place<L + 1>(), Op<L>::window>;

 public:
  static constexpr int group = lanes<A>;
  static constexpr long bytes = long(sizeof(A)) * Layout::size;

  template <class Work>
  ImageStages(A* memory, Work const& work) : memory_(memory), random_(work.random) {
    std::memset(static_cast<void*>(memory), 0, sizeof(A) * std::size_t(Layout::size));
    for (int l = 0; l < layers; ++l) position_[l] = work.position[l];
    prepare(work, std::make_integer_sequence<int, layers>{});
  }

  /// Features of samples [n, n + samples) of the batch into rows, `stride` numbers apart.
  void forward(ExternalTensor const& source, long n, int samples, A* rows, int stride) {
    for (int s = 0; s < samples; s += group) {
      A* const values = values_of(Training ? s / group : 0);
      forward_group<layers>(source, n + s, group_of(samples - s), values);
      ImageTransfer<A, value_place<layers>>::to_rows(values + Layout::value_at(layers),
                                                     rows + long(s) * stride, stride);
    }
  }
  /// The same of one group into the slot of the result.
  template <class S> void forward(ExternalTensor const& source, long n, int samples, S* result) {
    forward_group<layers>(source, n, samples, values_of(0));
    ImageTransfer<A, value_place<layers>>::store(values_of(0) + Layout::value_at(layers), n,
                                                 samples, result, false);
  }

  /// Parameter gradients, and where work.d_x wants them those of the images, from those of the
  /// features, after `forward` of the same samples. Rows behind the last sample become zeros.
  template <class Work>
  void backward(Work const& work, int n, int samples, A* rows, int stride,
                Gradients const& gradients) {
    for (int s = 0; s < samples; s += group) {
      for (int r = samples; r < s + group; ++r)
        std::memset(static_cast<void*>(rows + long(r) * stride), 0,
                    sizeof(A) * std::size_t(stride));
      ImageTransfer<A, gradient_place<layers>>::from_rows(rows + long(s) * stride, stride,
                                                          gradient(layers));
      backward_group(work, n + s, group_of(samples - s), values_of(s / group), gradients);
    }
  }
  /// The same of one group, forward as far as backward reads it, from the gradient of the images
  /// in work.d_y.
  template <class Work>
  void backward(Work const& work, ExternalTensor const& source, long n, int samples,
                Gradients const& gradients) {
    constexpr bool reads_result = Op<layers - 1>::chain::derivative_of != Derivative::nothing;
    constexpr ImagePlace D = gradient_place<layers>;
    forward_group<reads_result ? layers : layers - 1>(source, n, samples, values_of(0));
    if constexpr (D.has_zeros())
      std::memset(static_cast<void*>(gradient(layers)), 0,
                  sizeof(A) * group * std::size_t(D.size()));
    ImageTransfer<A, D, LanesBehind::zeros>::load(images_of(work.d_y, Op<layers - 1>::output), n,
                                                  samples, gradient(layers));
    backward_group(work, int(n), samples, values_of(0), gradients);
  }

  /// Adds what was summed lane by lane to the gradients.
  void finish(Gradients const& gradients) {
    finish_all(gradients, std::make_integer_sequence<int, layers>{});
  }

 private:
  static int group_of(int samples) { return samples < group ? samples : group; }
  A* values_of(int g) const { return memory_ + long(g) * Layout::group_size; }
  A* gradient(int l) const { return memory_ + Layout::gradient_at(l); }
  A* saved(A* values, int l) const { return values + Layout::saved_at(l); }
  template <int L> Randomness randomness() const {
    Randomness random = random_;
    random.position += position_[L];
    random.channels = Op<L>::output.channels;
    return random;
  }

  template <class Work, int... L> void prepare(Work const& work, std::integer_sequence<int, L...>) {
    (prepare_layer<L>(work), ...);
  }
  template <int L, class Work> void prepare_layer(Work const& work) {
    if constexpr (is_convolution<L>) {
      auto const* const weight = work.parameters + work.weight[L];
      auto const* const bias = Op<L>::bias ? work.parameters + work.bias[L] : nullptr;
      constexpr int taps = Op<L>::window.taps();
      constexpr int in = Op<L>::input.channels, out = Op<L>::output.channels;
      if constexpr (Layout::converts) {
        A* const to = memory_ + Layout::converted_at(L);
        for (int i = 0; i < taps * in * out; ++i) to[i] = A(weight[i]);
        for (int o = 0; o < out && Op<L>::bias; ++o) to[taps * in * out + o] = A(bias[o]);
        weight_[L] = to;
        bias_[L] = Op<L>::bias ? to + taps * in * out : nullptr;
      } else {
        weight_[L] = weight;
        bias_[L] = bias;
      }
      if constexpr (Layout::passes_on(L)) {
        A* const transposed = memory_ + Layout::transposed_at(L);  // (tap from the last, out, in)
        for (int t = 0; t < taps; ++t)
          for (int c = 0; c < in; ++c)
            for (int o = 0; o < out; ++o)
              transposed[(long(taps - 1 - t) * out + o) * in + c] =
                  A(weight[(long(t) * in + c) * out + o]);
      }
    }
  }

  // The first Count layers.
  template <int Count>
  void forward_group(ExternalTensor const& source, long n, int samples, A* values) const {
    ImageTransfer<A, value_place<0>>::load(source, n, samples, values);
    if constexpr (Layout::converts)
      for (int i = 0; i < value_place<0>.size() * group; ++i) values[i] = rounded<P>(values[i]);
    all_forward(values, int(n), std::make_integer_sequence<int, Count>{});
  }
  template <class Work>
  void backward_group(Work const& work, int n, int samples, A* values,
                      Gradients const& gradients) const {
    bool passes_on = false;  // of the first layer
    if constexpr (InputGradient) passes_on = work.d_x != nullptr;
    all_backward(values, n, gradients, passes_on, std::make_integer_sequence<int, layers>{});
    if constexpr (InputGradient)
      if (passes_on)
        ImageTransfer<A, gradient_place<0>>::store(gradient(0), n, samples, work.d_x,
                                                   work.accumulate_gradient);
  }

  template <int... L>
  void all_forward([[maybe_unused]] A* values, [[maybe_unused]] int n,
                   std::integer_sequence<int, L...>) const {
    (layer_forward<L>(values, n), ...);
  }
  template <int L> void layer_forward(A* values, int n) const {
    A const* const x = values + Layout::value_at(L);
    A* const y = values + Layout::value_at(L + 1);
    A* const kept = Layout::saves(L) ? saved(values, L + 1) : nullptr;
    Randomness const random = randomness<L>();
    if constexpr (is_convolution<L>) {
      ConvTile<A, value_place<L>, value_place<L + 1>, Op<L>::window>::run(
          x, weight_[L], bias_[L], y, typename Chain<L>::Rows{y, kept, random, n});
    } else {
      using Pool = PoolTile<Op<L>::kind, A, value_place<L>, value_place<L + 1>, Op<L>::window>;
      for (int d = 0; d < value_place<L + 1>.extent[0]; ++d)
        for (int h = 0; h < value_place<L + 1>.extent[1]; ++h) {
          Pool::forward(x, y, d, h);
          Chain<L>::apply(y, kept, d, h, random, n);
        }
    }
  }

  template <int... L>
  void all_backward(A* values, int n, Gradients const& gradients, bool first_passes_on,
                    std::integer_sequence<int, L...>) const {
    (layer_backward<layers - 1 - L>(values, n, gradients, first_passes_on), ...);
  }
  template <int L>
  void layer_backward(A* values, int n, Gradients const& gradients,
                      [[maybe_unused]] bool first_passes_on) const {
    constexpr ImagePlace D = gradient_place<L + 1>;
    A const* const x = values + Layout::value_at(L);
    A* const d_y = gradient(L + 1);
    A const* const kept =
        Layout::saves(L) ? saved(values, L + 1) : values + Layout::value_at(L + 1);
    Randomness const random = randomness<L>();
    for (int d = 0; d < D.extent[0]; ++d)
      for (int h = 0; h < D.extent[1]; ++h) {
        Chain<L>::template differentiate<D>(d_y, kept, d, h, random, n);
        if constexpr (is_convolution<L>)
          Gradient<L>::add(x, d_y, d, h, gradients.of_weight(L), gradients.of_bias(L),
                           memory_ + Layout::sums_at(L));
      }
    if constexpr (Layout::passes_on(L)) {
      if (L == 0 && !first_passes_on) return;
      A* const d_x = gradient(L);
      if constexpr (is_convolution<L>) {
        constexpr Window window{
            {Op<L>::window.size[0], Op<L>::window.size[1], Op<L>::window.size[2]}};
        if constexpr (gradient_place<L>.has_zeros())
          std::memset(static_cast<void*>(d_x), 0,
                      sizeof(A) * group * std::size_t(gradient_place<L>.size()));
        ConvTile<A, D, gradient_place<L>, window>::run(d_y, memory_ + Layout::transposed_at(L),
                                                       nullptr, d_x, [](int, int) {});
      } else {
        using Pool = PoolTile<Op<L>::kind, A, value_place<L>, value_place<L + 1>, Op<L>::window>;
        Pool::template backward<std::integral_constant<ImagePlace, gradient_place<L>>,
                                std::integral_constant<ImagePlace, D>>(x, d_y, d_x);
      }
    }
  }

  template <int... L>
  void finish_all(Gradients const& gradients, std::integer_sequence<int, L...>) const {
    (finish_layer<L>(gradients), ...);
  }
  template <int L> void finish_layer(Gradients const& gradients) const {
    if constexpr (is_convolution<L>)
      Gradient<L>::finish(memory_ + Layout::sums_at(L), gradients.of_weight(L),
                          gradients.of_bias(L));
  }

  A* memory_;
  Randomness random_;
  int position_[layers] = {};
  A const* weight_[layers] = {};
  A const* bias_[layers] = {};
};

/// A segment that begins with a Linear layer.
template <class P, bool Training, bool InputGradient>
class ImageStages<TypeList<>, P, Training, InputGradient> {
 public:
  static constexpr long bytes = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

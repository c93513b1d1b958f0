// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/conv_tile.hpp>
#include <phyllo/backend/host/segment/segment_parts.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Where the values, gradients and weights of a segment's convolutions and poolings lie in a
/// thread's memory, in numbers of Precision::accumulate; every offset is a multiple of a vector.
///
/// options  Training: there are gradients · InputGradient: of the first layer's input as well
template <class Layers, class P, bool Training, bool InputGradient> struct ImageLayout;
template <class... D, class P, bool Training, bool InputGradient>
struct ImageLayout<TypeList<D...>, P, Training, InputGradient> {
  using A = typename P::accumulate;
  static constexpr int layers = sizeof...(D);
  template <int L> using Op = At<TypeList<D...>, std::size_t(L)>;
  template <int L> static constexpr bool is_convolution = !requires { Op<L>::kind; };
  static constexpr bool converts = !std::is_same_v<typename P::storage, A>;

  /// Value l is the input of layer l; the last one the features.
  template <int L> static constexpr ImagePlace value_place() {
    if constexpr (L == layers)
      return ImagePlace::plain(Op<L - 1>::output);
    else if constexpr (is_convolution<L>)
      return ImagePlace::padded(Op<L>::input, Op<L>::output, Op<L>::window);
    else
      return ImagePlace::plain(Op<L>::input);
  }
  /// Of value l, as the backward pass of layer l - 1 reads it.
  template <int L> static constexpr ImagePlace gradient_place() {
    if constexpr (L == 0) return ImagePlace::plain(Op<0>::input);
    if constexpr (L > (InputGradient ? 0 : 1)) {
      if constexpr (is_convolution<L - 1>)
        return ImagePlace::spread(Op<L - 1>::input, Op<L - 1>::output, Op<L - 1>::window);
    }
    return ImagePlace::plain(Op < L == 0 ? 0 : L - 1 > ::output);
  }
  /// Whether layer l computes the gradient of its input.
  static constexpr bool passes_on(int l) { return Training && (l > 0 || InputGradient); }
  static constexpr bool saves(int l) {
    constexpr bool of_input[] = {D::chain::derivative_of == Derivative::input...};
    return Training && of_input[l];
  }

 private:
  struct Sizes {
    int value[layers + 1] = {};
    int saved[layers + 1] = {};
    int gradient[layers + 1] = {};
    int sums[layers] = {};
    int transposed[layers] = {};
    int converted[layers] = {};
  };
  template <int L> static constexpr void layer(Sizes& s) {
    s.value[L] = value_place<L>().size() * lanes<A>;
    if (saves(L)) s.saved[L + 1] = value_place<L + 1>().size() * lanes<A>;
    // Behind a row of the gradient a transposition reads on to the end of a square.
    if (Training) s.gradient[L + 1] = (gradient_place<L + 1>().size() + lanes<A>)*lanes<A>;
    if (L == 0 && passes_on(0)) s.gradient[0] = (gradient_place<0>().size() + lanes<A>)*lanes<A>;
    if constexpr (is_convolution<L>) {
      using Gradient = ConvGradient<A, value_place<L>(), gradient_place<L + 1>(), Op<L>::window>;
      if (Training) s.sums[L] = Gradient::memory;
      if (passes_on(L)) s.transposed[L] = vectors_of<A>(Gradient::weights) * lanes<A>;
      if (converts)
        s.converted[L] = vectors_of<A>(Gradient::weights + Op<L>::output.channels) * lanes<A>;
    }
  }
  static constexpr Sizes sizes = [] {
    Sizes s;
    [&]<int... L>(std::integer_sequence<int, L...>) {
      (layer<L>(s), ...);
    }(std::make_integer_sequence<int, layers>{});
    // A square of the features' transposition begins within them and may end behind.
    s.value[layers] = (value_place<layers>().size() + lanes<A>)*lanes<A>;
    if (Training) s.gradient[layers] += lanes<A> * lanes<A>;
    return s;
  }();
  static constexpr int largest_gradient(int parity) {
    int most = 0;
    for (int l = parity; l <= layers; l += 2)
      most = sizes.gradient[l] > most ? sizes.gradient[l] : most;
    return most;
  }
  template <int N> static constexpr int sum(int const (&part)[N], int count) {
    int total = 0;
    for (int i = 0; i < count; ++i) total += part[i];
    return total;
  }

 public:
  // Of each group of samples: values, then chain inputs.
  static constexpr int value_at(int l) { return sum(sizes.value, l); }
  static constexpr int saved_at(int l) { return value_at(layers + 1) + sum(sizes.saved, l); }
  static constexpr int group_size = saved_at(layers + 1);
  static constexpr int groups = Training ? image_rows<A> / lanes<A> : 1;
  // Of the thread: gradients of two values at a time, then what outlives a tile.
  static constexpr int gradient_at(int l) {
    return groups * group_size + (l % 2 == 0 ? 0 : largest_gradient(0));
  }
  static constexpr int sums_at(int l) {
    return groups * group_size + largest_gradient(0) + largest_gradient(1) + sum(sizes.sums, l);
  }
  static constexpr int transposed_at(int l) { return sums_at(layers) + sum(sizes.transposed, l); }
  static constexpr int converted_at(int l) {
    return transposed_at(layers) + sum(sizes.converted, l);
  }
  static constexpr int size = converted_at(layers);
};
}  // namespace phyllo::inline PHYLLO_ISA::host

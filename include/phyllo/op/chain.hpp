// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/step_state.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// The position of an element, for pointwise functions that draw random numbers.
struct Element {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t sample = 0;    // in the global batch
  std::uint32_t position = 0;  // of the layer in the network
  std::uint32_t index = 0;     // in the sample, channels-last
  bool training = false;
  std::uint32_t channels = 0;  // of a position; 0: there is one position

  PHYLLO_INLINE std::uint32_t channel() const { return channels > 0 ? index % channels : index; }
};

/// Source of random numbers of a launch; without a state (inference) random functions are the
/// identity.
struct Randomness {
  StepState const* state = nullptr;
  int position = 0;
  int channels = 0;  // of the elements, as Element has them

  PHYLLO_FUNCTION Element element(int sample, int index) const {
    if (state == nullptr)
      return {0,
              0,
              std::uint64_t(sample),
              std::uint32_t(position),
              std::uint32_t(index),
              false,
              std::uint32_t(channels)};
    return {state->seed,
            state->forward,
            state->first_sample + std::uint64_t(sample),
            std::uint32_t(position),
            std::uint32_t(index),
            true,
            std::uint32_t(channels)};
  }
};

namespace op {

namespace detail {

template <class P> inline constexpr bool is_random = requires { requires P::random; };
template <class P>
inline constexpr bool without_constants = requires { requires !P::needs_constants; };

template <class P, class T> PHYLLO_INLINE T apply(T x, [[maybe_unused]] Element const& e) {
  if constexpr (is_random<P>)
    return P::value(x, e);
  else
    return P::value(x);
}
template <class P, class T>
PHYLLO_INLINE T differentiate(T saved, [[maybe_unused]] Element const& e) {
  if constexpr (is_random<P>)
    return P::derivative(saved, e);
  else
    return P::derivative(saved);
}

template <class... P> struct ChainOf {
  template <class T> PHYLLO_INLINE static T value(T x, Element const&) { return x; }
  template <class T> PHYLLO_INLINE static T slope_at_input(T, Element const&) { return T(1); }
};
template <class First, class... Rest> struct ChainOf<First, Rest...> {
  template <class T> PHYLLO_INLINE static T value(T x, Element e) {
    T const y = apply<First>(x, e);
    ++e.position;
    return ChainOf<Rest...>::value(y, e);
  }
  // Derivative of the whole chain at its input, by the chain rule from the inside out.
  template <class T> PHYLLO_INLINE static T slope_at_input(T x, Element e) {
    T const y = apply<First>(x, e);
    T const slope = differentiate<First>(First::derivative_of == Derivative::output ? y : x, e);
    ++e.position;
    return slope * ChainOf<Rest...>::slope_at_input(y, e);
  }
};

template <class... P> struct DerivativeOf {
  static constexpr bool nothing = ((P::derivative_of == Derivative::nothing) && ...);
  static constexpr Derivative value = nothing ? Derivative::nothing : Derivative::input;
};
template <class P> struct DerivativeOf<P> {
  static constexpr Derivative value = P::derivative_of;
};

template <class... P> struct ActivationOf {
  static constexpr Activation value = Activation::other;
};
template <class P> struct ActivationOf<P> {
  static constexpr Activation value = P::activation;
};

}  // namespace detail

/// A list of pointwise functions, evaluated one after the other in registers: the epilogue of every
/// op is this parameter, so that backends and fusion rules do not multiply.
///
/// options  P... = any pointwise layers, a user's included
/// numerics evaluated in the accumulation type
template <class... P> struct Chain {
  static constexpr int length = sizeof...(P);
  static constexpr bool random = (detail::is_random<P> || ...);
  /// Whether the evaluation needs registers for constants.
  static constexpr bool needs_constants = !(detail::without_constants<P> && ...);
  /// What the backward pass needs: a single function may ask for its output; a longer chain is
  /// evaluated again from its input.
  static constexpr Derivative derivative_of = detail::DerivativeOf<P...>::value;
  /// The function of a chain of one layer; the only thing that a backend may ask of what it
  /// computes.
  static constexpr Activation activation = detail::ActivationOf<P...>::value;

  template <class T> PHYLLO_INLINE static T value(T x, Element const& e) {
    return detail::ChainOf<P...>::value(x, e);
  }
  /// `saved` is the chain's input or output, see `derivative_of`.
  template <class T> PHYLLO_INLINE static T derivative(T saved, Element const& e) {
    if constexpr (length == 1)
      return (detail::differentiate<P>(saved, e), ...);
    else
      return detail::ChainOf<P...>::slope_at_input(saved, e);
  }
};

}  // namespace op
}  // namespace phyllo::inline PHYLLO_ISA

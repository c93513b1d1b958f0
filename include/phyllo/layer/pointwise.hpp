// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/chain.hpp>

#include <concepts>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// More: Element, for a layer that draws random numbers.
template <class L, class... More>
concept PointwiseFormulas = requires(float x, More const&... more) {
  { L::value(x, more...) } -> std::convertible_to<float>;
  { L::derivative(x, more...) } -> std::convertible_to<float>;
};

/// Replaces a layer without its formulas; accepts no input.
template <class L> struct UnfinishedPointwise : NoLayer {
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(met<false, Where>,
                  "Pointwise: the layer lacks a formula. Expected `template <class T> "
                  "KOKKOS_FUNCTION static T value(T x)` and `derivative(T x)`; with `random`, both "
                  "have a second argument, `Element const&`.");
  };
};

}  // namespace detail

/// Base of the layers that compute y = f(x) element by element.
///
/// A layer derives from it and adds a `name` and two function templates over T = float or double:
/// `value(x)` and `derivative(saved)`, where saved is the layer's input x. If the derivative is
/// cheaper from the output y, declare `derivative_of = Derivative::output`: saved is then y. If the
/// value needs no constant but zero, declare `needs_constants = false`: kernels then evaluate it
/// between sums that fill the registers. If the value is one of `Activation`, declare it: backends
/// then use instructions and libraries that have the function.
///
/// shape    any -> the same
/// errors   compile: a layer without name, value or derivative, at its use
struct Pointwise {
  static constexpr Role role = Role::pointwise;
  static constexpr Derivative derivative_of = Derivative::input;
  static constexpr Activation activation = Activation::other;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }

  /// The layer L, which derives from this, or a refusal of it if a formula is missing.
  template <class L>
  using Finished =
      std::conditional_t<op::detail::is_random<L> ? detail::PointwiseFormulas<L, Element>
                                                  : detail::PointwiseFormulas<L>,
                         L, detail::UnfinishedPointwise<L>>;
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/map.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/layer/silu.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Product of the first half of the channels with a function of the second: y = a Gate(b). Put it
/// behind a Linear or Conv layer of twice the channels.
///
/// shape    (N, 2 C, S...) -> (N, C, S...)
/// options  Gate: a pointwise layer; GLU, SwiGLU, GEGLU and ReGLU have a name of their own
/// errors   compile: an odd number of channels; a gate that is no pointwise layer, or a random one
/// numerics those of Gate, and one product
/// cost     one Gate an element of y; backward one more, and its derivative
/// source   Dauphin et al., "Language Modeling with Gated Convolutional Networks", ICML 2017, eq.
///          1; Shazeer, "GLU Variants Improve Transformer", arXiv:2002.05202, eq. 5
template <class Gate> struct GatedLinearUnit : Map {
  static constexpr char const* name = "gated_linear_unit";
  static constexpr MapOperand operands[2] = {{.part = 0, .parts = 2}, {.part = 1, .parts = 2}};
  static constexpr bool accepts(Shape s) {
    return Gate::role == Pointwise::role && !op::detail::is_random<Gate> && s.channels % 2 == 0;
  }

  template <class T> PHYLLO_INLINE static T value(T a, T b) { return a * Gate::value(b); }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T a, T b) {
    T const gate = Gate::value(b);
    constexpr bool of_output = Gate::derivative_of == Derivative::output;
    return {gate, a * Gate::derivative(of_output ? gate : b)};
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "GatedLinearUnit: expected an even number of channels, and a pointwise layer "
                  "without noise as Gate. Double the channels of the layer before it.");
  };
};

/// The gated linear unit with the logistic function: y = a / (1 + exp(-b)).
using GLU = GatedLinearUnit<Sigmoid>;
/// The gated linear unit with SiLU: y = a b / (1 + exp(-b)).
using SwiGLU = GatedLinearUnit<SiLU>;
/// The gated linear unit with GELU: y = a b Phi(b).
using GEGLU = GatedLinearUnit<GELU>;
/// The gated linear unit with the rectifier: y = a max(b, 0).
using ReGLU = GatedLinearUnit<ReLU>;

}  // namespace phyllo::inline PHYLLO_ISA

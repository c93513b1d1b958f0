// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/random.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sets each element to zero with the given probability in training and scales the others by
/// 1 / (1 - probability); the identity in inference.
///
/// shape    any -> the same
/// options  Probability in [0, 1)
/// errors   compile: a probability outside [0, 1)
/// numerics the mask is drawn under (seed, forward pass, layer, sample of the global batch,
///          element): any split over threads and ranks draws the same one
/// cost     one random number per element, drawn again in the backward pass; nothing is stored
/// source   Srivastava et al., JMLR 15 (2014) 1929
template <double Probability = 0.5> struct Dropout : Pointwise {
  static constexpr char const* name = "dropout";
  static constexpr Derivative derivative_of = Derivative::nothing;
  static constexpr bool random = true;
  static constexpr bool accepts(Shape) { return Probability >= 0 && Probability < 1; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "Dropout: the probability must be in [0, 1).");
  };

  template <class T> PHYLLO_FUNCTION static T value(T x, Element const& e) {
    return x * derivative(x, e);
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T, Element const& e) {
    if (!e.training) return T(1);
    float const u = random_uniform(e.seed, e.step, e.position, e.sample, e.index);
    return u < float(Probability) ? T(0) : T(1 / (1 - Probability));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

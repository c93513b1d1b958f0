// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sum over the channels of (exp(s) + m^2 - 1 - s) / 2: the Kullback-Leibler divergence of a normal
/// distribution from the one with mean zero and variance one. The first half of the output is the
/// mean m, the second the logarithm s of the variance, as Reparameterise reads them; the term of a
/// variational autoencoder. There are no targets: pass no_targets.
///
/// shape    outputs (N, 2 C) or (N, 2 C, spatial...)
/// units    none; a sum, not a mean, so that one weight serves any number of latent channels
/// errors   compile: an odd number of channels
/// numerics values and gradients in the accumulation type
/// cost     1 exponential per channel of the distribution; the gradient another one
/// source   Kingma and Welling, "Auto-Encoding Variational Bayes", ICLR 2014, appendix B
struct UnitGaussianDivergence {
  static constexpr char const* name = "unit_gaussian_divergence";
  static constexpr bool classes = false;
  static constexpr int outputs_per_target = 0, parts = 2;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    int const half = y.channels() / 2;
    y.gradient(0, half, [&](int c) { return y(c); });
    y.gradient(half, half, [&](int c) { return T(0.5) * (exponential(y(c)) - T(1)); });
    return T(0.5) * y.sum(half, [&](int c) {
      T const m = y(c), s = y(half + c);
      return m * m + (exponential(s) - T(1) - s);
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

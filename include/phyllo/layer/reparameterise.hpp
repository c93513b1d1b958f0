// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/layer/map.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

struct ReparameterisedNormal : Map {
  static constexpr bool random = true;

  // Without noise the deviation, which may be infinite, is not read.
  template <class T> PHYLLO_INLINE static T value(T mean, T log_variance, T noise) {
    T const z = mean + exponential(T(0.5) * log_variance) * noise;
    return chosen(noise == T(0), mean, z);
  }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T, T log_variance, T noise) {
    T const d = T(0.5) * noise * exponential(T(0.5) * log_variance);
    return {T(1), chosen(noise == T(0), T(0), d)};
  }
};

}  // namespace detail

/// A draw from a normal distribution, differentiable by its mean and variance: z = mean +
/// exp(log_variance / 2) noise. The mean is the first half of the channels, the logarithm of the
/// variance the second. In inference z is the mean.
///
/// shape    (N, 2 C, S...) -> (N, C, S...)
/// errors   compile: an odd number of channels
/// numerics noise is standard normal, in float, under (seed, forward pass, layer, sample of the
///          global batch, element): any split over threads and ranks draws the same numbers
/// cost     one random number and one exponential an element, both again in the backward pass;
///          nothing is stored
/// source   Kingma and Welling, "Auto-Encoding Variational Bayes", ICLR 2014, §2.4 and appendix B
struct Reparameterise : detail::ReparameterisedNormal {
  static constexpr char const* name = "reparameterise";
  static constexpr MapOperand operands[] = {{.part = 0, .parts = 2}, {.part = 1, .parts = 2}};

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Reparameterise: expected an even number of channels, means and then logarithms "
                  "of variances. Double the channels of the layer before it.");
  };
};

/// The same for two values, z = mean + exp(log_variance / 2) noise:
/// Combine<ReparameterisePair, log_variance> reads the current value as the mean.
///
/// shape    (N, C, S...), (N, C, S...) -> (N, C, S...)
/// errors   compile: shapes that Multiply would refuse
/// numerics as Reparameterise
/// cost     as Reparameterise
/// source   as Reparameterise
struct ReparameterisePair : detail::ReparameterisedNormal {
  static constexpr char const* name = "reparameterise_pair";
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};
};

}  // namespace phyllo::inline PHYLLO_ISA

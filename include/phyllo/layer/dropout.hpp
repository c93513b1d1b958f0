// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/random.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/op/chain.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sets each element to zero with the given probability in training and scales the others by
/// 1 / (1 - probability): y = x mask / (1 - probability). The identity in inference.
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
  static constexpr AttentionPart part = AttentionPart::dropout;
  static constexpr bool accepts(Shape) { return Probability >= 0 && Probability < 1; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "Dropout: the probability must be in [0, 1).");
  };

  template <class T> PHYLLO_INLINE static T value(T x, Element const& e) {
    return x * derivative(x, e);
  }
  template <class T> PHYLLO_INLINE static T derivative(T, Element const& e) {
    if (!e.training) return T(1);
    float const u = random_uniform(e.seed, e.step, e.position, e.sample, e.index);
    return u < float(Probability) ? T(0) : T(1 / (1 - Probability));
  }
};

/// Sets whole channels of each sample to zero with the given probability in training and scales the
/// others by 1 / (1 - probability); the identity in inference. Also as Dropout1d, Dropout2d and
/// Dropout3d. Behind a convolution, neighbouring numbers of a channel are too alike for Dropout.
///
/// shape    any -> the same; without spatial extents it is Dropout
/// options  Probability in [0, 1)
/// errors   compile: a probability outside [0, 1)
/// numerics drawn under (seed, forward pass, layer, sample of the global batch, channel)
/// cost     as Dropout
/// source   Tompson et al., Efficient Object Localization Using Convolutional Networks, CVPR 2015
template <double Probability = 0.5> struct ChannelDropout : Pointwise {
  static constexpr char const* name = "channel_dropout";
  static constexpr Derivative derivative_of = Derivative::nothing;
  static constexpr bool random = true;
  static constexpr bool accepts(Shape) { return Probability >= 0 && Probability < 1; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "ChannelDropout: the probability must be in [0, 1).");
  };

  template <class T> PHYLLO_INLINE static T value(T x, Element const& e) {
    return x * derivative(x, e);
  }
  template <class T> PHYLLO_INLINE static T derivative(T, Element const& e) {
    if (!e.training) return T(1);
    float const u = random_uniform(e.seed, e.step, e.position, e.sample, e.channel());
    return u < float(Probability) ? T(0) : T(1 / (1 - Probability));
  }
};

/// ChannelDropout under torch's name for sequences.
template <double Probability = 0.5> using Dropout1d = ChannelDropout<Probability>;
/// ChannelDropout under torch's name for images.
template <double Probability = 0.5> using Dropout2d = ChannelDropout<Probability>;
/// ChannelDropout under torch's name for volumes.
template <double Probability = 0.5> using Dropout3d = ChannelDropout<Probability>;

/// Dropout for SELU: elements that are dropped become SELU's smallest value s = -1.7581, and a
/// linear function keeps mean zero and variance one; the identity in inference. y = a x + b, of
/// dropped elements y = a s + b, with a = 1 / sqrt((1 - Probability) (1 + Probability s^2)) and
/// b = -a Probability s.
///
/// shape    any -> the same
/// options  Probability in [0, 1)
/// errors   compile: a probability outside [0, 1)
/// numerics the mask is drawn as Dropout's
/// cost     as Dropout
/// source   Klambauer et al., Self-Normalizing Neural Networks, NeurIPS 2017, eq. 8 to 11
template <double Probability = 0.5> struct AlphaDropout : Pointwise {
  static constexpr char const* name = "alpha_dropout";
  static constexpr Derivative derivative_of = Derivative::nothing;
  static constexpr bool random = true;
  static constexpr bool accepts(Shape) { return Probability >= 0 && Probability < 1; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "AlphaDropout: the probability must be in [0, 1).");
  };

  template <class T> PHYLLO_INLINE static T value(T x, Element const& e) {
    if (!e.training) return x;
    T const factor = T(scale());
    return chosen(is_dropped(e), factor * T((1 - Probability) * saturation),
                  factor * x + shift(factor));
  }
  template <class T> PHYLLO_INLINE static T derivative(T, Element const& e) {
    if (!e.training) return T(1);
    return is_dropped(e) ? T(0) : T(scale());
  }

 private:
  static constexpr double saturation = -1.7580993408473766;  // of SELU, far below zero
  PHYLLO_FUNCTION static double scale() {
    return 1 / Kokkos::sqrt((1 - Probability) * (1 + Probability * saturation * saturation));
  }
  // Makes the mean zero; a dropped element has it too: scale (saturation - Probability saturation).
  template <class T> PHYLLO_FUNCTION static T shift(T factor) {
    return -factor * T(Probability * saturation);
  }
  PHYLLO_FUNCTION static bool is_dropped(Element const& e) {
    return random_uniform(e.seed, e.step, e.position, e.sample, e.index) < float(Probability);
  }
};

/// Sets whole samples to zero with the given probability in training and scales the others by 1 /
/// (1 - probability); the identity in inference. Put it last in the Main of a Residual, whose
/// Shortcut is then all that is left of some samples.
///
/// shape    any -> the same
/// options  Probability in [0, 1)
/// errors   compile: a probability outside [0, 1)
/// numerics drawn under (seed, forward pass, layer, sample of the global batch)
/// cost     as Dropout
/// source   Huang et al., Deep Networks with Stochastic Depth, ECCV 2016
template <double Probability = 0.5> struct StochasticDepth : Pointwise {
  static constexpr char const* name = "stochastic_depth";
  static constexpr Derivative derivative_of = Derivative::nothing;
  static constexpr bool random = true;
  static constexpr bool accepts(Shape) { return Probability >= 0 && Probability < 1; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "StochasticDepth: the probability must be in [0, 1).");
  };

  template <class T> PHYLLO_INLINE static T value(T x, Element const& e) {
    return x * derivative(x, e);
  }
  template <class T> PHYLLO_INLINE static T derivative(T, Element const& e) {
    if (!e.training) return T(1);
    float const u = random_uniform(e.seed, e.step, e.position, e.sample, 0);
    return u < float(Probability) ? T(0) : T(1 / (1 - Probability));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

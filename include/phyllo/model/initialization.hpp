// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_MathematicalConstants.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/random.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One weight's place and the extents that its variance depends on.
struct WeightKey {
  std::uint64_t seed = 0;
  std::uint32_t tensor = 0;   // position of the tensor among the network's parameters, < 2^16
  std::uint64_t element = 0;  // in the tensor
  int fan_in = 1;             // products summed for one output: channels x kernel positions
  int fan_out = 1;            // outputs that one input takes part in
};

namespace detail {

// The last step a RandomKey can name: no training draws from it.
inline constexpr std::uint64_t initialization_step = (std::uint64_t(1) << 34) - 1;

// Two numbers in [0, 1), multiples of 2^-24.
struct UniformPair {
  float first = 0;
  float second = 0;
};

// attempt: of those that draw a weight again.
PHYLLO_INLINE UniformPair weight_uniforms(WeightKey const& weight, int attempt = 0) {
  // Weight e has the elements 2 e and 2 e + 1, which lie in one Philox block.
  std::uint64_t const place = 2 * weight.element;
  PhiloxBlock const block = random_block({weight.seed, initialization_step - std::uint64_t(attempt),
                                          weight.tensor, place >> 32, std::uint32_t(place)});
  bool const upper = (place & 2u) != 0;
  return {uniform01(upper ? block.word[2] : block.word[0]),
          uniform01(upper ? block.word[3] : block.word[1])};
}

// Mean 0, variance 1, in [-sqrt 3, sqrt 3).
PHYLLO_INLINE float unit_uniform(WeightKey const& weight) {
  float const u = weight_uniforms(weight).first;
  return (2.0f * u - 1.0f) * 1.73205081f;
}

// Mean 0, variance 1: Box and Muller, Ann. Math. Statist. 29 (1958) 610.
PHYLLO_INLINE float unit_normal(WeightKey const& weight, int attempt = 0) {
  UniformPair const u = weight_uniforms(weight, attempt);
  // 1 - u is in (0, 1]: the logarithm is finite.
  return Kokkos::sqrt(-2.0f * Kokkos::log(1.0f - u.first)) *
         Kokkos::cos(2.0f * Kokkos::numbers::pi_v<float> * u.second);
}

// Of the normal distribution what is within two deviations: one in 22 is drawn again.
PHYLLO_INLINE float truncated_normal(WeightKey const& weight) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    float const x = unit_normal(weight, attempt);
    if (x >= -2 && x <= 2) return x;
  }
  return 0;  // once in 10^21
}

PHYLLO_INLINE float kaiming_deviation(float gain, WeightKey const& weight) {
  return gain / Kokkos::sqrt(float(weight.fan_in));
}

PHYLLO_INLINE float xavier_deviation(float gain, WeightKey const& weight) {
  return gain * Kokkos::sqrt(2.0f / (float(weight.fan_in) + float(weight.fan_out)));
}

}  // namespace detail

/// Rows of tables: normal, with the density exp(-w^2 / 2) / sqrt(2 pi).
///
/// numerics as KaimingNormal
/// source   torch.nn.Embedding, reset_parameters, PyTorch 2.14
struct UnitNormal {
  PHYLLO_FUNCTION float value(WeightKey const& weight) const { return detail::unit_normal(weight); }
};

/// Weights and biases of recurrent layers: uniform in +-1 / sqrt(fan_in), where fan_in is the
/// hidden size.
///
/// numerics as KaimingUniform
/// source   torch.nn.RNNBase, reset_parameters, PyTorch 2.14
struct UniformByFan {
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return detail::unit_uniform(weight) * detail::kaiming_deviation(0.57735027f, weight);
  }
};

/// Weights uniform in +-gain sqrt(3 / fan_in): keeps the variance of activations through layers.
///
/// options  gain = sqrt 2 for layers followed by ReLU; 1 without, 5/3 before Tanh
/// numerics a function of (seed, tensor, element) alone, for any number of ranks and threads
/// source   He et al., Delving Deep into Rectifiers, ICCV 2015, §2.2
struct KaimingUniform {
  float gain = 1.41421356f;
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return detail::unit_uniform(weight) * detail::kaiming_deviation(gain, weight);
  }
};

/// Weights normal with deviation gain / sqrt(fan_in).
///
/// options  gain = sqrt 2 for layers followed by ReLU; 1 without, 5/3 before Tanh
/// numerics as KaimingUniform; at most 5.8 deviations; backends may differ in the last bits of
///          logarithm and cosine
/// source   He et al., Delving Deep into Rectifiers, ICCV 2015, §2.2, eq. 10
struct KaimingNormal {
  float gain = 1.41421356f;
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return detail::unit_normal(weight) * detail::kaiming_deviation(gain, weight);
  }
};

/// Weights uniform in +-gain sqrt(6 / (fan_in + fan_out)): keeps the variance both ways.
///
/// options  gain = 1; 5/3 before Tanh
/// numerics as KaimingUniform
/// source   Glorot and Bengio, AISTATS 2010, eq. 16
struct XavierUniform {
  float gain = 1;
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return detail::unit_uniform(weight) * detail::xavier_deviation(gain, weight);
  }
};

/// Weights normal with deviation gain sqrt(2 / (fan_in + fan_out)).
///
/// options  gain = 1; 5/3 before Tanh
/// numerics as KaimingNormal
/// source   Glorot and Bengio, AISTATS 2010, eq. 12
struct XavierNormal {
  float gain = 1;
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return detail::unit_normal(weight) * detail::xavier_deviation(gain, weight);
  }
};

/// PyTorch's default of Linear and convolutions: weights uniform in +-1 / sqrt(fan_in), and biases
/// of these layers likewise. Other schemes leave biases at zero.
///
/// numerics as KaimingUniform
/// source   torch.nn.Linear and torch.nn.modules.conv, reset_parameters, PyTorch 2.14; LeCun et
///          al., "Efficient BackProp", 1998
struct TorchDefault {
  static constexpr bool draws_biases = true;
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return detail::unit_uniform(weight) * detail::kaiming_deviation(0.57735027f, weight);
  }
};

/// Weights normal with the given deviation, w = deviation z, drawn again where |z| > 2.
///
/// options  deviation = 0.02, of the normal distribution; that of the weights is 0.88 of it
/// numerics as KaimingNormal
/// source   Devlin et al., "BERT", NAACL 2019: google-research/bert, truncated_normal_initializer
struct TruncatedNormal {
  float deviation = 0.02f;
  PHYLLO_FUNCTION float value(WeightKey const& weight) const {
    return deviation * detail::truncated_normal(weight);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

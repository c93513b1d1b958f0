// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/random.hpp>

#include <Kokkos_MathematicalConstants.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// The random numbers of one augmentation of one batch, by the number of a sample in this rank's
/// part. To be copied into a kernel.
///
/// numerics they depend on BatchOptions::seed, the position and the sample's place in the batch of
///          all ranks: the same on any number of ranks, and after a resume. Each augmentation of
///          Batches draws others.
/// cost     20 products of 32 bits; normal: twice as many, a logarithm and a cosine
struct AugmentationDraw {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;      // since the first epoch
  std::uint32_t position = 0;  // where layers have the number of the layer
  std::uint64_t first = 0;     // of this rank's samples in the batch of all ranks

  /// In [0, 1). element: below 2^31, numbers the random numbers of a sample
  PHYLLO_INLINE float uniform(long sample, std::uint32_t element = 0) const {
    return random_uniform(seed, step, position, first + std::uint64_t(sample), element);
  }
  /// -most, ..., most, each as likely as the others.
  PHYLLO_INLINE int integer(long sample, std::uint32_t element, int most) const {
    return int(uniform(sample, element) * float(2 * most + 1)) - most;
  }
  /// Of mean 0 and deviation 1, by the transform of Box and Muller.
  PHYLLO_INLINE float normal(long sample, std::uint32_t element) const {
    float const radius = Kokkos::sqrt(-2 * Kokkos::log(1 - uniform(sample, 2 * element)));
    return radius *
           Kokkos::cos(2 * Kokkos::numbers::pi_v<float> * uniform(sample, 2 * element + 1));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Clipping by global norm: if the norm of the gradient of all parameters together exceeds
/// `largest_norm`, the gradient is scaled down to it. Clipping by value: each element is then
/// limited to +-largest_value.
///
/// options  largest_norm (infinity: no clipping) · largest_value (likewise)
/// numerics of the mean gradient over the samples of all ranks, without the loss scale; the factor
///          is min(1, largest_norm / (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_; values
///          as in clip_grad_value_
/// cost     of the norm none; of values one more pass over the gradients
/// source   Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
///          ICML 2013, algorithm 1
struct Clipping {
  double largest_norm = Kokkos::Experimental::infinity_v<double>;
  Misspelt<Option::largest_norm> max_norm = {};
  double largest_value = Kokkos::Experimental::infinity_v<double>;
  Misspelt<Option::largest_value> clip_value = {}, max_value = {};

  PHYLLO_FUNCTION double factor(double norm) const {
    double const f = largest_norm / (norm + 1e-6);
    return f < 1 ? f : 1;  // also where both are infinite
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

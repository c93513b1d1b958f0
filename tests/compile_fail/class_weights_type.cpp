// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WeightedCrossEntropy: the weights are a View of floats

#include <phyllo/loss/weighted_cross_entropy.hpp>

#include <Kokkos_Core.hpp>

phyllo::WeightedCrossEntropy weighted(Kokkos::View<double*> weights) {
  return phyllo::WeightedCrossEntropy(weights);
}

int main() {}

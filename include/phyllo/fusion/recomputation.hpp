// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace phyllo::inline PHYLLO_ISA {

/// Which values training gives up after the forward pass, and computes again before the gradients
/// that read them.
///
/// numerics the same bits: masks are drawn again from the same numbers, and statistics of a batch
///          are kept
/// cost     cheap: a few operations for each number, and its bytes read and written once more;
///          ResNet-50 keeps 0.65 of what it keeps otherwise
/// source   Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv:1604.06174, 2016,
///          where normalisations and activations are what is computed again first
enum class Recomputation : int {
  marked,  // those inside Recompute
  // Also values that a contraction or a pooling reads for its gradients, where a few operations on
  // kept values give them: normalisations and pointwise layers, sums, maps, copies.
  cheap,
};

}  // namespace phyllo::inline PHYLLO_ISA

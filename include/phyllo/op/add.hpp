// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Sum of two values with an epilogue: y = chain(a + b).
///
/// shape    (N, size), (N, size) -> (N, size)
/// cost     two reads, one write
template <class Chain> struct Add {
  using chain = Chain;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    int size = 0;
    storage const* a = nullptr;
    storage const* b = nullptr;
    storage* y = nullptr;
    storage* saved = nullptr;  // the chain's input, or nullptr
    Randomness random;
  };
  // The backward pass is op::Pointwise<Chain> for d_z and op::Copy for each of the two inputs.
};

}  // namespace phyllo::inline PHYLLO_ISA::op

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// A chain of pointwise functions as a pass of its own: y = chain(x).
///
/// shape    (N, size) -> (N, size)
/// cost     one read, one write
template <class Chain> struct Pointwise {
  using chain = Chain;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    int size = 0;  // elements of one sample
    storage const* x = nullptr;
    storage* y = nullptr;  // may be x
    Randomness random;
  };

  /// d_x (+)= d_y chain'(saved); d_x may be d_y. The backward half of every epilogue.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0;
    int size = 0;
    storage const* saved = nullptr;  // the chain's input or output, as Chain::derivative_of says;
                                     // not read where that says nothing
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
    Randomness random;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

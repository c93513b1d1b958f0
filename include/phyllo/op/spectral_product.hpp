// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/op/work_memory.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// For each frequency a matrix of complex weights times a vector of complex channels:
/// y[n, m, o] = sum over i of weight[m, i, o] x[n, m, i].
///
/// shape    x (N, M, 2 I), y (N, M, 2 O): real parts, then imaginary parts · weight (M, 2, I, O)
/// numerics sums over channels and samples in the type of sums, their real and imaginary terms in
///          any order
/// cost     8 M I O operations a sample; the weights are read once for each sample
struct SpectralProduct {
  struct Sizes {
    int batch = 0, modes = 1, inputs = 1, outputs = 1;
  };
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    Sizes sizes;
    storage const* x = nullptr;
    storage const* weight = nullptr;
    storage* y = nullptr;
    WorkMemory memory = {};
  };
  /// d_x[n, m, i] (+)= sum over o of conj(weight[m, i, o]) d_y[n, m, o]
  template <class Precision> struct BackwardSource {
    using storage = typename Precision::storage;
    Sizes sizes;
    storage const* d_y = nullptr;
    storage const* weight = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
    WorkMemory memory = {};
  };
  /// d_weight[m, i, o] = sum over n of conj(x[n, m, i]) d_y[n, m, o]
  template <class Precision> struct BackwardParameters {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    Sizes sizes;
    storage const* x = nullptr;
    storage const* d_y = nullptr;
    accumulate* d_weight = nullptr;  // written
    WorkMemory memory = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

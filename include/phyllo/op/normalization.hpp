// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/affine.hpp>
#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Batch normalisation with an epilogue: y = chain(z), z = scale[c] (x - mean[c])
/// inverse_deviation[c] + shift[c] + added, where there is something to add.
///
/// A model calls, in training, `sum`, `centered_sum`, `finish`, `forward`, and backwards
/// `backward_sums`, `backward`; with statistics over all ranks it reduces the sums in between.
///
/// shape    x, y, added (rows, C) with rows = N times positions; all per-channel arrays (C)
/// numerics two passes: the mean first, then centred squares; partial sums over row blocks whose
///          number depends at most on the number of rows, and not on that of threads
/// cost     training: three reads, one write; inference: one read, one write
/// source   Ioffe and Szegedy, "Batch Normalization", ICML 2015
template <class Chain> struct Normalization {
  using chain = Chain;
  static constexpr int row_blocks = 64;  // partial sums of a channel, at most

  /// sums[0..C) = sum over rows of x, sums[C] = rows.
  /// With mean_sums given: sums[0..C) = sum of (x - mean)^2, mean = mean_sums[c] / mean_sums[C];
  /// sums has C elements only.
  template <class Precision> struct Sum {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0;
    storage const* x = nullptr;
    accumulate const* mean_sums = nullptr;
    // Workspace (row_blocks, 2 C); as the call without mean_sums left it where these are given.
    accumulate* partial = nullptr;
    accumulate* sums = nullptr;  // (C + 1), or (C) with mean_sums
  };

  /// mean and inverse deviation of the batch; running statistics by exponential averaging with the
  /// unbiased variance. A batch without rows leaves everything as it is, one of a single row, which
  /// has no variance, the running ones; statistics that are infinite or not a number never enter
  /// those.
  template <class Precision> struct Finish {
    using accumulate = typename Precision::accumulate;
    int channels = 0;
    accumulate const* mean_sums = nullptr;    // (C + 1)
    accumulate const* square_sums = nullptr;  // (C)
    accumulate* mean = nullptr;               // (C)
    accumulate* inverse_deviation = nullptr;  // (C)
    float* running_mean = nullptr;            // (C)
    float* running_variance = nullptr;        // (C)
    accumulate momentum = 0, epsilon = 0;
  };

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0;
    storage const* x = nullptr;
    storage const* scale = nullptr;    // nullptr: one
    storage const* shift = nullptr;    // nullptr: zero
    accumulate const* mean = nullptr;  // training: of the batch
    accumulate const* inverse_deviation = nullptr;
    float const* running_mean = nullptr;  // inference: used when mean is nullptr
    float const* running_variance = nullptr;
    accumulate epsilon = 0;
    storage* y = nullptr;
    Randomness random;
    storage const* added = nullptr;  // nullptr: nothing
  };

  /// With g = d_y chain'(z), z recomputed, or chain'(y) where y is given: sums[0..C) = sum of g,
  /// sums[C..2C) = sum of g x_hat; these are also the gradients of shift and scale (written when
  /// the pointers are given).
  template <class Precision> struct BackwardSums {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0;
    storage const* x = nullptr;
    storage const* d_y = nullptr;
    storage const* scale = nullptr;  // as in the forward pass
    storage const* shift = nullptr;
    accumulate const* mean = nullptr;
    accumulate const* inverse_deviation = nullptr;
    accumulate* partial = nullptr;  // workspace (row_blocks, 2 C)
    accumulate* sums = nullptr;     // (2 C)
    accumulate* d_scale = nullptr;
    accumulate* d_shift = nullptr;
    Randomness random;
    storage const* added = nullptr;  // of the forward pass, where y is not given
    storage const* y = nullptr;  // the result, for a chain whose derivative is one of its output
  };

  /// d_x (+)= scale inverse_deviation (g - sum(g) / M - x_hat sum(g x_hat) / M), M = mean_sums[C];
  /// d_added (+)= g, after d_x where they are the same.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0;
    storage const* x = nullptr;
    storage const* d_y = nullptr;
    storage const* scale = nullptr;  // as in the forward pass
    storage const* shift = nullptr;
    accumulate const* mean = nullptr;
    accumulate const* inverse_deviation = nullptr;
    accumulate const* sums = nullptr;       // (2 C), reduced over ranks where statistics are
    accumulate const* mean_sums = nullptr;  // (C + 1), for M
    storage* d_x = nullptr;                 // may be d_y; nullptr: not computed
    bool accumulate_gradient = false;
    Randomness random;
    storage const* added = nullptr;  // as in BackwardSums
    storage const* y = nullptr;
    storage* d_added = nullptr;  // nullptr: not computed
    bool accumulate_added = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

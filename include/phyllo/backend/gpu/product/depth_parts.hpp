// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// In how many parts of the batch the gradients of a contraction's parameters are summed: a narrow
/// layer's are a product of few rows and columns over a great depth, which one block of threads
/// would run through while the others of the device have nothing to do.
///
/// numerics the parts depend on extents and batch, not on the device
struct DepthParts {
  /// Blocks of threads to have at least: some for each multiprocessor of the largest devices, of
  /// products, which fill one, and of column sums, which are short.
  static constexpr long products = 256, sums = 1024;
  /// Samples below which a part does not pay for being added.
  static constexpr long least_depth = 512, least_rows = 256;
  static constexpr int column_width = 32;  // of a block of column_sums
  /// Numbers of the workspace: each part has less than a block's square of them.
  static constexpr int widest = 128;  // tile of the result
  static constexpr long weight_count = products * widest * widest;
  static constexpr long partial_count = weight_count + sums * column_width;

  int weight = 1;
  int bias = 1;

  /// A weight of (inputs, outputs), summed over depth samples and positions, by blocks of
  /// `tile` by `tile`.
  DepthParts(long inputs, long outputs, long depth, int tile, bool has_workspace) {
    if (!has_workspace) return;
    weight = parts(products, blocks(inputs, tile) * blocks(outputs, tile), depth / least_depth);
    bias = parts(sums, blocks(outputs, column_width), depth / least_rows);
  }

  static constexpr long bias_begin() { return weight_count; }

 private:
  static constexpr long blocks(long extent, long of) { return (extent + of - 1) / of; }
  static constexpr int parts(long wanted, long there, long most) {
    long const each = wanted / there;
    return int(each < 2 || most < 2 ? 1 : each < most ? each : most);
  }
};

/// Sums of parts, four at a time; nothing where there is one part, which is the sum.
struct PartialSums {
  float const* partial = nullptr;  // (parts, count)
  int parts = 1;
  long count = 0;
  float* sums = nullptr;  // (count)

  PHYLLO_INLINE long items() const { return parts > 1 ? count : 0; }
  PHYLLO_INLINE void operator()(long i) const {
    float sum[4] = {};
    int p = 0;
    for (; p + 4 <= parts; p += 4) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < 4; ++k) sum[k] += partial[long(p + k) * count + i];
    }
    for (; p < parts; ++p) sum[0] += partial[long(p) * count + i];
    sums[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
};

/// One work item: one parameter of a contraction.
struct sum_parts {
  PartialSums weight, bias;

  PHYLLO_INLINE long items() const { return weight.items() + bias.items(); }
  PHYLLO_FUNCTION void operator()(long i) const {
    if (i < weight.items())
      weight(i);
    else
      bias(i - weight.items());
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/loss.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The share of a sample's positions whose class index the loss does not ignore. One work item: one
/// sample.
template <class A> struct CountPositions {
  ExternalTensor targets;
  Shape shape;  // of the outputs
  long long ignored = 0;
  A* shares = nullptr;  // (batch)
  KOKKOS_FUNCTION void operator()(int n) const {
    int const height = shape.spatial[1], width = shape.spatial[2];
    int count = 0;
    for (int p = 0; p < shape.positions(); ++p) {
      int const row = p / width;
      count +=
          targets.template read<long long>(n, 0, row / height, row % height, p % width) != ignored;
    }
    shares[n] = A(count) / A(shape.positions());
  }
};

/// Their sum in the order of samples, in place of the number of samples.
template <class A> struct SumShares {
  A const* shares = nullptr;  // (batch)
  int batch = 0;
  A* sums = nullptr;  // op::Tail
  KOKKOS_FUNCTION void operator()(int) const {
    A sum = 0;
    for (int n = 0; n < batch; ++n) sum += shares[n];
    sums[op::Tail::samples] = sum;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

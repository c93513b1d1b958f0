// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/fourier_axis.hpp>
#include <phyllo/op/work_memory.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Discrete Fourier transform along one axis, some of the frequencies: with E = weight(k)
/// exp(2 pi i f(k) j / length), from space X_k = sum over j of conj(E_kj) x_j, to space
/// y_j = sum over k of E_kj Y_k; a real result is the real part of it. Each transform is the
/// gradient of the other.
///
/// shape    as FourierAxis says, behind the batch
/// numerics sums in the type of sums, over real and imaginary parts in any order; angles in double
/// cost     length times modes products of complex numbers for each position and channel
struct Fourier {
  template <class Precision> struct Transform {
    using storage = typename Precision::storage;
    int batch = 0;
    FourierAxis axis;
    bool to_space = false;
    storage const* x = nullptr;
    storage* y = nullptr;
    bool accumulate = false;
    WorkMemory memory = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

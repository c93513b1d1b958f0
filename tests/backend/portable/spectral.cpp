// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Truncated Fourier transforms, and products of complex matrices, against plain loops.

#include <backend/portable/spectral_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: spectral convolutions", P, PHYLLO_TEST_PRECISIONS) {
  compare_spectral<P, portable::Kernels>();
}

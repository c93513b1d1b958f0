// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Truncated Fourier transforms, and products of complex matrices, in vectors against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/portable/spectral_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: spectral convolutions", P, PHYLLO_TEST_PRECISIONS) {
  compare_spectral<P, host::Kernels>();
}

#endif

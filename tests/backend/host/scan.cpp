// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scans in tiles of samples against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/portable/scan_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: scans", P, PHYLLO_TEST_PRECISIONS) {
  compare_cells<P, host::Kernels>();
}

#endif

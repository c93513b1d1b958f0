// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/portable/scan_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: scans", P, PHYLLO_TEST_PRECISIONS) {
  compare_cells<P, portable::Kernels>();
}

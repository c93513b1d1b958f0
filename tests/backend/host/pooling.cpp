// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Maxima and means over windows, a vector of channels at a time, against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/portable/pooling.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: maxima over windows", P, PHYLLO_TEST_PRECISIONS) {
  compare_poolings<op::PoolingKind::maximum, P, host::Kernels>();
}
TEST_CASE_TEMPLATE("openmp: means over windows", P, PHYLLO_TEST_PRECISIONS) {
  compare_poolings<op::PoolingKind::average, P, host::Kernels>();
}
TEST_CASE_TEMPLATE("openmp: windows over large images", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>), Mixed<bf16, float>) {
  compare_large_poolings<op::PoolingKind::maximum, P, host::Kernels>();
  compare_large_poolings<op::PoolingKind::average_counted, P, host::Kernels>();
}
TEST_CASE("openmp: a maximum passes a not-a-number on, as the reference does") {
  compare_not_a_number<host::Kernels>();
}

#endif

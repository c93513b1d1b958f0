// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/portable/pooling.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: maxima over windows", P, PHYLLO_TEST_PRECISIONS) {
  compare_poolings<op::PoolingKind::maximum, P>();
}
TEST_CASE_TEMPLATE("portable: means over windows", P, PHYLLO_TEST_PRECISIONS) {
  compare_poolings<op::PoolingKind::average, P>();
}
TEST_CASE("portable: a maximum passes a not-a-number on, as the reference does") {
  compare_not_a_number<portable::Kernels>();
}

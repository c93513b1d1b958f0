// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/portable/contraction.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: linear", P, PHYLLO_TEST_PRECISIONS) {
  for_size_rows([](SizeRow const& pick) {
    compare_contraction<P>({pick(0), Shape{pick(1)}, pick(2), {}}, pick.row % 2 == 0);
  });
  for (bool const bias : {false, true}) compare_contraction<P>({0, Shape{9}, 17, {}}, bias);
}

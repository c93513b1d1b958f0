// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Dilated, grouped and transposed convolutions and other borders against plain loops.

#include <backend/portable/general_convolution.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: general convolutions", P, PHYLLO_TEST_PRECISIONS) {
  compare_general_convolutions<P, portable::Kernels>(all_cases ? 1 : 3);
}
TEST_CASE("portable: general convolutions with an epilogue") {
  for_size_rows([](SizeRow const& pick) {
    if (pick.row % 11 == 0)
      compare_general_convolution<op::Chain<GELU, Dropout<0.3>>, Full<float>>(
          general_convolution(pick, 2));
  });
}

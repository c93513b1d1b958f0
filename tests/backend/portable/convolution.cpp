// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/portable/contraction.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: convolutions of rank 1", P, Full<double>, Mixed<bf16, float>) {
  for_size_rows(
      [](SizeRow const& pick) { compare_contraction<P>(convolution(pick, 1), pick.row % 2 == 0); });
}
TEST_CASE_TEMPLATE("portable: convolutions of ranks 2 and 3", P, Full<float>, Mixed<fp16, float>) {
  for_size_rows([](SizeRow const& pick) {
    compare_contraction<P>(convolution(pick, 2), pick.row % 2 == 0);
    compare_contraction<P>(convolution(pick, 3), pick.row % 2 == 1);
  });
  ContractionCase none = convolution({0, 0, 0}, 2);
  none.batch = 0;
  compare_contraction<P>(none, true);
}

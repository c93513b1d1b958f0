// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>

#include <backend/portable/normalization.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: batch normalisation", P,
                   Full<double> PHYLLO_IN_VERIFY(, Mixed<bf16, float>)) {
  for_size_rows([](SizeRow const& pick) {
    compare_normalization<op::Chain<>, P>(pick(0), pick(1), pick(2));
  });
  compare_normalization<op::Chain<>, P>(0, 4, 17);
}
TEST_CASE_TEMPLATE("portable: batch normalisation with an epilogue", P, Full<float>,
                   Mixed<fp16, float>) {
  for_size_rows([](SizeRow const& pick) {
    compare_normalization<op::Chain<GELU, ReLU>, P>(pick(0), pick(1), pick(2));
  });
  compare_normalization<op::Chain<GELU, ReLU>, P>(0, 4, 17);
  compare_normalization<op::Chain<ReLU>, P>(3, 7, 65);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalisation of groups of channels: groups by threads, and by teams, which devices run.

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>

#include <backend/portable/group_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: group normalisation", P, Full<double> PHYLLO_IN_VERIFY(, Full<float>),
                   Mixed<bf16, float>) {
  compare_group_normalizations<op::Chain<>, P>();
}
TEST_CASE("portable: group normalisation with an epilogue, and by teams") {
  using C = op::Chain<ReLU, Dropout<0.25>>;
  compare_group_normalization<C, Full<float>>(3, 7, 6, 3);
  compare_group_normalization<C, Full<float>, GroupsByTeams>(3, 7, 129, 3);
}

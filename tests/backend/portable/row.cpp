// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Softmax and row normalisations: rows by threads, and by teams, which devices run; here a team is
// one thread.

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/row_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("portable: softmax", P, PHYLLO_TEST_PRECISIONS) {
  compare_softmax<P, portable::Kernels>();
  compare_softmax<P, ByTeams>();
}

TEST_CASE_TEMPLATE("portable: softmax over an axis", P,
                   Full<float> PHYLLO_IN_VERIFY(, Full<double>), Mixed<bf16, float>) {
  compare_axis_softmaxes<P, portable::Kernels>();
}
TEST_CASE_TEMPLATE("portable: row normalisation", P, PHYLLO_TEST_PRECISIONS) {
  compare_row_normalizations<op::Chain<>, P>();
  for (int const channels : {1, 2, 64, 1000})
    compare_row_normalization<op::Chain<>, P, ByTeams>(3, 7, channels);
}
TEST_CASE_TEMPLATE("portable: row normalisation with an epilogue", C, op::Chain<Tanh>,
                   op::Chain<ReLU, Dropout<0.25>>) {
  for (int const channels : {2, 16, 129}) compare_row_normalization<C, Full<float>>(7, 7, channels);
  compare_row_normalization<C, Full<float>, ByTeams>(7, 7, 129);
}

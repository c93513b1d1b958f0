// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Softmax and row normalisations in vectors of channels against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/row_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: softmax", P, PHYLLO_TEST_PRECISIONS) {
  compare_softmax<P, host::Kernels>();
}
TEST_CASE_TEMPLATE("openmp: softmax over an axis", P, Full<float> PHYLLO_IN_VERIFY(, Full<double>),
                   Mixed<bf16, float>) {
  compare_axis_softmaxes<P, host::Kernels>();
}
TEST_CASE_TEMPLATE("openmp: row normalisation", P, PHYLLO_TEST_PRECISIONS) {
  compare_row_normalizations<op::Chain<>, P, host::Kernels>();
}
TEST_CASE_TEMPLATE("openmp: row normalisation with an epilogue", C, op::Chain<Tanh>,
                   op::Chain<ReLU, Dropout<0.25>>) {
  for (int const channels : {2, 16, 129})
    compare_row_normalization<C, Mixed<fp16, float>, host::Kernels>(7, 7, channels);
  compare_row_normalization<C, Mixed<fp16, float>, host::Kernels>(40, 25, 33);
}

#endif

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Batch normalisation by rows, a vector of channels at a time, against plain loops: counts of
// channels at and around vectors and blocks, every type of number, epilogues.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/relu.hpp>

#include <backend/portable/normalization.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: batch normalisation", P, Full<double>, Mixed<bf16, float>) {
  for_size_rows([](SizeRow const& pick) {
    compare_normalization<op::Chain<>, P, host::Kernels>(pick(0), pick(1), pick(2));
  });
  for (int const channels : {63, 64, 65, 128, 150})
    compare_normalization<op::Chain<>, P, host::Kernels>(3, 7, channels);
  // Several blocks of rows, of one and of several blocks of channels, and rows that are taken as
  // one.
  for (int const channels : {5, 255, 257, 530})
    compare_normalization<op::Chain<>, P, host::Kernels>(9, 17, channels);
  compare_normalization<op::Chain<>, P, host::Kernels>(0, 4, 17);
}
TEST_CASE_TEMPLATE("openmp: batch normalisation with an epilogue", P,
                   Mixed<fp16, float> PHYLLO_IN_VERIFY(, Full<float>)) {
  for_size_rows([](SizeRow const& pick) {
    compare_normalization<op::Chain<GELU, ReLU>, P, host::Kernels>(pick(0), pick(1), pick(2));
  });
  for (int const channels : {63, 64, 65, 128, 150}) {
    compare_normalization<op::Chain<ReLU>, P, host::Kernels>(3, 7, channels);
    compare_normalization<op::Chain<ReLU, Dropout<0.25>>, P, host::Kernels>(3, 7, channels);
  }
  for (int const channels : {5, 270})
    compare_normalization<op::Chain<ReLU, Dropout<0.25>>, P, host::Kernels>(9, 17, channels);
  compare_normalization<op::Chain<GELU, ReLU>, P, host::Kernels>(0, 4, 17);
}

#endif

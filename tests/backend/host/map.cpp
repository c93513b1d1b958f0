// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Maps in tiles of rows and channels, and one element for each work item, against plain loops.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/tanh.hpp>

#include <backend/portable/map_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE("openmp: maps") {
  compare_maps<NoisyProduct, op::Chain<Tanh>, Full<float>, host::Kernels>();
  compare_maps<PlainProduct, op::Chain<>, Mixed<bf16, float>, host::Kernels>();
}
PHYLLO_IN_VERIFY(
    TEST_CASE_TEMPLATE("openmp: maps in every precision", P, PHYLLO_TEST_PRECISIONS) {
      compare_maps<NoisyProduct, op::Chain<>, P, host::Kernels>();
      compare_maps<NoisyProduct, op::Chain<Tanh, Dropout<0.25>>, P, host::Kernels>();
      compare_maps<PlainProduct, op::Chain<>, P, host::Kernels>();
    } TEST_CASE_TEMPLATE("portable: maps", P, PHYLLO_TEST_PRECISIONS) {
      compare_maps<NoisyProduct, op::Chain<Tanh, Dropout<0.25>>, P, portable::Kernels>();
      compare_maps<PlainProduct, op::Chain<>, P, portable::Kernels>();
    })

#endif

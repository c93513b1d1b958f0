// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention in tiles of queries and keys against plain loops, and positions.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/layer/dropout.hpp>

#include <backend/portable/attention_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: attention", P, PHYLLO_TEST_PRECISIONS) {
  compare_attentions<20, op::Chain<>, P, host::Kernels>();
}
TEST_CASE("openmp: attention of narrow and wide heads") {
  compare_attention<1, op::Chain<>, Full<float>, host::Kernels>({2, 2, 66, 70, true, true, true});
  compare_attention<64, op::Chain<>, Full<float>, host::Kernels>({1, 2, 70, 66, true, false, true});
  PHYLLO_IN_VERIFY((compare_attentions<16, op::Chain<>, Full<float>, host::Kernels>());
                   (compare_attentions<33, op::Chain<>, Full<double>, host::Kernels>());)
}
TEST_CASE("openmp: attention with a dropout of weights") {
  compare_attention<4, op::Chain<Dropout<0.3>>, Mixed<bf16, float>, host::Kernels>(
      {2, 2, 69, 70, true, true, true});
}
TEST_CASE("openmp: positions") {
  using P = Mixed<bf16, float>;
  compare_positions<op::PositionKind::learned, P, host::Kernels>(3, 5, 72);
  compare_positions<op::PositionKind::sinusoidal, P, host::Kernels>(4, 5, 12);
  compare_positions<op::PositionKind::rotary, P, host::Kernels>(3, 5, 136);
}

#endif

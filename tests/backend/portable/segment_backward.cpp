// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <backend/segment_backward.hpp>

using namespace phyllo;
using namespace phyllo::test::segments;

namespace {

using Odd = op::Segment<Dense<7, 17, true, Tanh>, Dense<17, 16, false>,
                        Dense<16, 33, true, GELU, Dropout<0.2>>, Dense<33, 3, true, ReLU>>;

}  // namespace

TEST_CASE_TEMPLATE("portable: segments backwards", P, Full<double>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>)) {
  for (int const batch : {0, 1, 3, 17, 200}) compare<Odd, P, portable::Kernels>(batch);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sums, means and maxima over axes and windows that divide them, by each backend of processors.

#include <backend/portable/reduction_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

using K = op::ReductionKind;

TEST_CASE_TEMPLATE("portable: reductions", P, Full<double> PHYLLO_IN_VERIFY(, Full<float>),
                   Mixed<bf16, float>) {
  compare_all_reductions<P, portable::Kernels>();
}
TEST_CASE("portable: a maximum over an axis passes a not-a-number on") {
  compare_not_a_number_reduced<K::maximum, portable::Kernels>();
  compare_not_a_number_reduced<K::first_maximum, portable::Kernels>();
}

#if defined(PHYLLO_HAS_HOST_BACKEND)
TEST_CASE_TEMPLATE("openmp: reductions", P, Full<double> PHYLLO_IN_VERIFY(, Full<float>),
                   Mixed<bf16, float>) {
  compare_all_reductions<P, host::Kernels>();
  compare_reductions<K::sum, P, host::Kernels>();
  compare_joined_alone<K::mean, P, host::Kernels>();
  compare_joined_alone<K::maximum, P, host::Kernels>();
}
TEST_CASE("openmp: a maximum over an axis passes a not-a-number on") {
  compare_not_a_number_reduced<K::maximum, host::Kernels>();
  compare_not_a_number_reduced<K::first_maximum, host::Kernels>();
}
#endif

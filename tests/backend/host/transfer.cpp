// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The caller's tensors to slots and back, plane by plane: every order of strides.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <backend/portable/transfer_comparison.hpp>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE("openmp: transfers between the caller's tensors and slots") {
  compare_transfers<host::Kernels>();
}

#endif

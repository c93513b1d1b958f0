// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One program for each layer of registry.hpp, which is PHYLLO_TEST_LAYER here.

#include <generic/layer_checks.hpp>

TEST_CASE("generic: what holds for every layer") {
  phyllo::test::check_layer(phyllo::test::cases::PHYLLO_TEST_LAYER{});
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One program of objects that were compiled for different processors: each runs its own kernels.

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

std::vector<double> baseline_outputs();
std::vector<double> wide_outputs();

TEST_CASE("instruction sets: two in one program train and infer alike") {
  std::vector<double> const narrow = baseline_outputs(), wide = wide_outputs();
  REQUIRE(narrow.size() == 63);
  REQUIRE(wide.size() == narrow.size());
  double largest = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    REQUIRE(std::isfinite(narrow[i]));
    CHECK(std::abs(narrow[i] - wide[i]) < 1e-5);
    largest = std::max(largest, std::abs(narrow[i]));
  }
  CHECK(largest > 0.01);
}

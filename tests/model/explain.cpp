// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The README shows the plan of its network; this test keeps the two the same.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "networks/readme.hpp"

TEST_CASE("explain: the plan in the README is the one that the library prints") {
  std::ifstream readme("README.md");
  REQUIRE(readme.good());
  std::stringstream text;
  text << readme.rdbuf();
  std::string const plan = phyllo::explain<LeNet>();
  INFO("put this into README.md:\n", plan);
  CHECK(text.str().find(plan) != std::string::npos);
}

TEST_CASE("explain: fusion and backends are shown") {
  using Unfused =
      phyllo::Execution<Kokkos::DefaultExecutionSpace, phyllo::Backends<phyllo::PortableBackend>,
                        phyllo::Fusion::none>;
  std::string const fused = phyllo::explain<LeNet>();
  std::string const unfused = phyllo::explain<LeNet, phyllo::Full<double>, Unfused>();
  CHECK(fused.find("contraction epilogue") != std::string::npos);
  CHECK(fused.find("narrow segment") != std::string::npos);
  CHECK(fused.find("portable") != std::string::npos);
  CHECK(unfused.find("contraction epilogue") == std::string::npos);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/core/type_name.hpp>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/relu.hpp>

#include <string>

namespace {
struct Hidden {};
}  // namespace
namespace solver {
struct Burgers {};
}  // namespace solver

TEST_CASE("a type is named as its author wrote it") {
  CHECK(phyllo::type_name<phyllo::ReLU>() == "ReLU");
  CHECK(phyllo::type_name<solver::Burgers>() == "solver::Burgers");
  CHECK(phyllo::type_name<Hidden>() == "Hidden");
  std::string const name =
      phyllo::type_name<phyllo::Conv2d<6, phyllo::KernelSize<5>, phyllo::Padding<2>>>();
  CHECK(name.substr(0, 35) == "Conv2d<6, KernelSize<5>, Padding<2>");
  CHECK(name.find("phyllo") == std::string::npos);
}

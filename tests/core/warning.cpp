// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Where warnings go, and the version in its three forms.

#include <phyllo/core/version.hpp>
#include <phyllo/core/warning.hpp>

#include <doctest/doctest.h>
#include <core/standard_error.hpp>

#include <string>

namespace {

std::string received;
void receive(char const* sentence) { received += sentence; }
void discard(char const*) {}

}  // namespace

TEST_CASE("warning: one line on stderr by default, with the library's name") {
  CHECK(phyllo::test::standard_error_of([] { phyllo::warn("This is slow."); }) ==
        "phyllo: This is slow.\n");
}

TEST_CASE("warning: a sink receives the sentence alone, and stderr nothing") {
  phyllo::WarningSink const before = phyllo::set_warning_sink(receive);
  CHECK(before == &phyllo::write_warning);
  CHECK(
      phyllo::test::standard_error_of([] { phyllo::warn(std::string("This is slow.")); }).empty());
  CHECK(received == "This is slow.");

  CHECK(phyllo::set_warning_sink(discard) == receive);
  CHECK(phyllo::test::standard_error_of([] { phyllo::warn("This too."); }).empty());
  CHECK(received == "This is slow.");

  CHECK(phyllo::set_warning_sink(nullptr) == discard);
  CHECK(phyllo::test::standard_error_of([] { phyllo::warn("Again."); }) == "phyllo: Again.\n");
}

TEST_CASE("version: macros, number and text are one version") {
  CHECK(std::string(phyllo::version) == std::to_string(PHYLLO_VERSION_MAJOR) + "." +
                                            std::to_string(PHYLLO_VERSION_MINOR) + "." +
                                            std::to_string(PHYLLO_VERSION_PATCH));
#if PHYLLO_VERSION >= 100
  CHECK(PHYLLO_VERSION / 10000 == PHYLLO_VERSION_MAJOR);
  CHECK(PHYLLO_VERSION / 100 % 100 == PHYLLO_VERSION_MINOR);
  CHECK(PHYLLO_VERSION % 100 == PHYLLO_VERSION_PATCH);
#else
  FAIL("the preprocessor cannot compare the version");
#endif
}

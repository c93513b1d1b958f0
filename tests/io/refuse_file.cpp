// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/io/refuse_file.hpp>

#include <cerrno>
#include <string>

#include <doctest/doctest.h>

TEST_CASE("text from a file enters messages short and harmless") {
  CHECK(phyllo::detail::in_quotes("a\x1b[31m\n\xc2\x9b") == R"("a\x1b[31m\x0a\xc2\x9b")");
  CHECK(phyllo::detail::in_quotes(std::string(1000, 'x')) == "\"" + std::string(80, 'x') + "...\"");
}

TEST_CASE("a path enters messages whole") {
  std::string const path(1000, 'x');
  CHECK(phyllo::detail::quoted_path(path + "\xc3\xa9") == "\"" + path + "\xc3\xa9\"");
}

TEST_CASE("a refusal names who, expected, got and the remedy") {
  CHECK_THROWS_WITH_AS(phyllo::detail::refuse_file("reading \"x\"", "a", "b", "do c"),
                       "reading \"x\": expected a, got b; do c.", phyllo::Error);
}

TEST_CASE("the operating system's words have no full stop of their own") {
  CHECK(phyllo::detail::system_message(ENOSPC) == "No space left on device");
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a program says about how it was compiled.

#include <phyllo/model/build_info.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("build_info: names version, commit, compiler, Kokkos, vectors and backends") {
  phyllo::BuildInfo const info = phyllo::build_info();
  CHECK(info.version == phyllo::version);
  CHECK((info.commit == "unknown" ||
         (info.commit.size() == 12 &&
          info.commit.find_first_not_of("0123456789abcdef") == std::string::npos)));
  CHECK(info.compiler.find_first_of("0123456789") != std::string::npos);
  CHECK(info.kokkos.find('.') != std::string::npos);
  CHECK(info.execution_space == Kokkos::DefaultExecutionSpace::name());
  CHECK(info.vector_bits == 8 * PHYLLO_VECTOR_BYTES);
  CHECK(info.backends.find("portable") != std::string::npos);

  std::string const text = to_string(info);
  CAPTURE(text);
  for (std::string const& fact : {info.version, info.commit, info.compiler, info.kokkos,
                                  info.execution_space, info.instruction_set, info.backends})
    CHECK(text.find(fact) != std::string::npos);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <core/refused_memory.hpp>
#include <phyllo/comm/transport/workspace.hpp>

#include <doctest/doctest.h>

#include <string>

using Space = Kokkos::DefaultHostExecutionSpace;

TEST_CASE("Workspace: it grows, and enough of it stays where it is") {
  Space const exec;
  phyllo::Workspace workspace("test workspace");
  CHECK(workspace.bytes() == 0);
  CHECK(workspace.data() == nullptr);
  workspace.reserve(exec, 100);
  CHECK(workspace.bytes() == 100);
  std::byte* const first = workspace.data();
  workspace.reserve(exec, 50);
  CHECK(workspace.bytes() == 100);
  CHECK(workspace.data() == first);
  workspace.reserve(exec, 1 << 20);
  CHECK(workspace.bytes() == 1 << 20);
}

TEST_CASE("Workspace: what was there stays where there is no room for more") {
  Space const exec;
  phyllo::Workspace workspace("test workspace");
  workspace.reserve(exec, 4 * long(sizeof(int)));
  int* const numbers = workspace.numbers<int>();
  for (int i = 0; i < 4; ++i) numbers[i] = i;
  for (int times = 0; times < 2; ++times) try {
      workspace.reserve(exec, phyllo::test::bytes_of_no_machine);
      FAIL("nothing was said");
    } catch (phyllo::Error const& error) {
      CHECK(std::string(error.what()) ==
            "test workspace: expected room for 128.0 TiB in the memory space Host, got none. This "
            "policy keeps copies of what it sends; AllReduce does not.");
    }
  CHECK(workspace.numbers<int>() == numbers);
  CHECK(workspace.bytes() == 4 * long(sizeof(int)));
  for (int i = 0; i < 4; ++i) CHECK(numbers[i] == i);
  workspace.reserve(exec, 1000);
  CHECK(workspace.bytes() == 1000);
}

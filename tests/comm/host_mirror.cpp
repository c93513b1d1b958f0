// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <core/refused_memory.hpp>
#include <phyllo/comm/transport/host_mirror.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("HostMirror: pieces are aligned, apart, and given back at once") {
  phyllo::HostMirror mirror("test mirror");
  CHECK_FALSE(mirror.has_room(1));
  CHECK(mirror.has_room(0));
  mirror.reserve(256);
  CHECK(mirror.has_room(256));
  CHECK_FALSE(mirror.has_room(257));

  std::byte* const first = mirror.take(1);
  std::byte* const second = mirror.take(100);
  CHECK(second - first == 64);
  CHECK(mirror.used() == 192);
  CHECK(mirror.has_room(64));
  CHECK_FALSE(mirror.has_room(65));

  mirror.give_back();
  CHECK(mirror.used() == 0);
  CHECK(mirror.take(256) == first);
}

TEST_CASE("HostMirror: room never shrinks, and enough room stays where it is") {
  phyllo::HostMirror mirror("test mirror");
  mirror.reserve(1000);
  std::byte* const first = mirror.take(10);
  mirror.give_back();
  mirror.reserve(500);
  CHECK(mirror.has_room(900));
  CHECK(mirror.take(10) == first);
}

TEST_CASE("HostMirror: what was there stays where there is no room for more") {
  phyllo::HostMirror mirror("test mirror");
  mirror.reserve(256);
  std::byte* const first = mirror.take(256);
  first[255] = std::byte{7};
  mirror.give_back();
  try {
    mirror.reserve(phyllo::test::bytes_of_no_machine);
    FAIL("nothing was said");
  } catch (phyllo::Error const& error) {
    CHECK(std::string(error.what())
              .find("test mirror: expected room for 128.0 TiB in the memory "
                    "space ") == 0);
  }
  CHECK_FALSE(mirror.has_room(257));
  CHECK(mirror.take(256) == first);
  CHECK(first[255] == std::byte{7});
}

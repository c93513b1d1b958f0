// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that is there, and the sentence where it is not.

#include <core/refused_memory.hpp>
#include <phyllo/core/allocate.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

using namespace phyllo;
using phyllo::test::bytes_of_no_machine;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Numbers = Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace>;
constexpr long most = std::numeric_limits<long>::max();

// Views that fail as those of one version of Kokkos or another do.
template <class Failure> struct Failing {
  static constexpr int rank = 1;
  using value_type = float;
  using memory_space = Kokkos::HostSpace;
  template <class Properties> Failing(Properties const&, std::size_t) { throw Failure(); }
};
struct NoRoom : std::runtime_error {
  NoRoom() : std::runtime_error("Host memory space failed to allocate 20 B") {}
};
struct OtherFailure : std::runtime_error {
  OtherFailure() : std::runtime_error("the device is gone") {}
};

// The sentence, and whether Kokkos' own words stand behind it.
struct Refusal {
  std::string sentence, cause;
};
template <class V> Refusal refusal_of(long size) {
  Refusal refusal;
  try {
    allocate<V>("net/numbers", size, "Take fewer.", Space(), Kokkos::WithoutInitializing);
  } catch (Error const& error) {
    refusal.sentence = error.what();
    try {
      std::rethrow_if_nested(error);
    } catch (std::exception const& cause) {
      refusal.cause = cause.what();
    }
  }
  return refusal;
}

}  // namespace

TEST_CASE("allocate: arrays and single values, zero unless told otherwise") {
  Space const exec;
  auto const numbers = allocate<Numbers>("net/numbers", 5, "", exec);
  auto const one = allocate<Kokkos::View<double, Kokkos::HostSpace>>("net/one", 1, "");
  exec.fence("test");
  CHECK(numbers.label() == "net/numbers");
  CHECK(numbers.size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(numbers(i) == 0);
  CHECK(one() == 0);
  CHECK(allocate<Numbers>("net/numbers", 0, "", Kokkos::WithoutInitializing).size() == 0);
}

TEST_CASE("allocate: zero where other numbers were") {
  constexpr int count = 1000;
  {
    auto const before = allocate<Numbers>("net/before", count, "", Kokkos::WithoutInitializing);
    for (int i = 0; i < count; ++i) before(i) = 1;
  }
  Space const exec;
  auto const numbers = allocate<Numbers>("net/numbers", count, "", exec);
  exec.fence("test");
  int zeros = 0;
  for (int i = 0; i < count; ++i) zeros += numbers(i) == 0;
  CHECK(zeros == count);
}

TEST_CASE("allocate: no room is one sentence, with Kokkos' words behind it") {
  Refusal const refusal = refusal_of<Numbers>(bytes_of_no_machine / 4);
  CHECK(refusal.sentence ==
        "net/numbers: expected room for 128.0 TiB in the memory space Host, got none. Take fewer.");
  CHECK(refusal.cause.find("net/numbers") != std::string::npos);
}

TEST_CASE("allocate: no room is the same sentence whatever type Kokkos throws, other errors stay") {
  for (Refusal const& refusal :
       {refusal_of<Failing<NoRoom>>(5), refusal_of<Failing<std::bad_alloc>>(5)}) {
    CHECK(
        refusal.sentence ==
        "net/numbers: expected room for 20 bytes in the memory space Host, got none. Take fewer.");
    CHECK(!refusal.cause.empty());
  }
  CHECK_THROWS_WITH_AS(allocate<Failing<OtherFailure>>("net/numbers", 5, ""), "the device is gone",
                       OtherFailure);
}

TEST_CASE("allocate: sizes that no number of bytes holds are refused before Kokkos wraps them") {
  // Of the second, a multiplication without a check makes 4 bytes.
  for (long const size : {most, (1L << 62) + 1}) {
    Refusal const refusal = refusal_of<Numbers>(size);
    CHECK(refusal.sentence ==
          "net/numbers: expected room for 8.0 EiB in the memory space Host, got none. Take fewer.");
    CHECK(refusal.cause.empty());
  }
}

TEST_CASE("bytes_of: a product stops at the largest number instead of wrapping") {
  static_assert(bytes_of(3, 4) == 12);
  static_assert(bytes_of(0, most) == 0);
  static_assert(bytes_of(most, 0) == 0);
  static_assert(bytes_of(most, 1) == most);
  static_assert(bytes_of(most / 2 + 1, 2) == most);
  static_assert(bytes_of(most / 2, 2) == most - 1);
  static_assert(bytes_of(1L << 31, 1L << 33) == most);
  CHECK(readable_bytes(1023) == "1023 bytes");
  CHECK(readable_bytes(1024) == "1.0 KiB");
  CHECK(readable_bytes(1536L << 20) == "1.5 GiB");
  CHECK(readable_bytes(most) == "8.0 EiB");
}

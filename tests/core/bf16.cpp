// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <core/storage_type.hpp>
#include <phyllo/core/bf16.hpp>

TEST_CASE("bf16 converts from and to float and double with one correct rounding") {
  phyllo::test::check_storage_type<phyllo::bf16>();
}

TEST_CASE("bf16 has the patterns of the upper half of a float") {
  using phyllo::bf16;
  CHECK(bf16(1.0f).bits() == 0x3f80);
  CHECK(bf16(-2.0).bits() == 0xc000);
  CHECK(bf16(3.14159265f).bits() == 0x4049);
  CHECK(bf16::from_bits(0x0001) == bf16(0x1p-133));
  static_assert(bf16::from_bits(0x7f80).bits() == 0x7f80);
}

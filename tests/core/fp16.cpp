// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <core/storage_type.hpp>
#include <phyllo/core/fp16.hpp>

TEST_CASE("fp16 converts from and to float and double with one correct rounding") {
  phyllo::test::check_storage_type<phyllo::fp16>();
}

TEST_CASE("fp16 has the patterns of IEEE 754 binary16") {
  using phyllo::fp16;
  CHECK(fp16(1.0f).bits() == 0x3c00);
  CHECK(fp16(-2.0).bits() == 0xc000);
  CHECK(fp16(0.333333333).bits() == 0x3555);
  CHECK(fp16(65504.0f).bits() == 0x7bff);
  CHECK(fp16(65519.99f).bits() == 0x7bff);
  CHECK(fp16(65520.0f).bits() == 0x7c00);  // the tie goes to the even neighbour, infinity
  CHECK(fp16(0x1p-24f).bits() == 0x0001);
  CHECK(fp16(0x1p-25f).bits() == 0x0000);
  CHECK(fp16(0x1.000002p-25f).bits() == 0x0001);
  static_assert(fp16::from_bits(0x7c00).bits() == 0x7c00);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/io/tensor.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using phyllo::ElementType;
using phyllo::detail::stored_size;
using Extents = std::vector<std::int64_t>;

TEST_CASE("the size of a stored tensor") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK(stored_size(ElementType::f32, Extents{}) == 4);
  CHECK(stored_size(ElementType::f32, Extents{2, 3}) == 24);
  CHECK(stored_size(ElementType::f64, Extents{5, 0, 7}) == 0);
  SUBCASE("packed elements must fill bytes") {
    CHECK(stored_size(ElementType::f4, Extents{6}) == 3);
    CHECK(stored_size(ElementType::f6_e3m2, Extents{4}) == 3);
    CHECK_FALSE(stored_size(ElementType::f4, Extents{3}).has_value());
    CHECK_FALSE(stored_size(ElementType::f6_e3m2, Extents{}).has_value());
  }
  SUBCASE("a negative extent has none") {
    CHECK_FALSE(stored_size(ElementType::u8, Extents{-1}).has_value());
    CHECK_FALSE(stored_size(ElementType::u8, Extents{0, -1}).has_value());
  }
  SUBCASE("a product that overflows has none, in whatever order and beside a zero") {
    CHECK(stored_size(ElementType::u8, Extents{largest / 8}) == largest / 8);
    CHECK_FALSE(stored_size(ElementType::u8, Extents{largest}).has_value());
    CHECK_FALSE(stored_size(ElementType::f64, Extents{std::int64_t{1} << 58}).has_value());
    CHECK_FALSE(stored_size(ElementType::u8, Extents{std::int64_t{1} << 32, std::int64_t{1} << 32})
                    .has_value());
    CHECK_FALSE(stored_size(ElementType::u8, Extents{0, largest, largest}).has_value());
    CHECK_FALSE(stored_size(ElementType::u8, Extents{largest, largest, 0}).has_value());
  }
}

TEST_CASE("tensors and metadata are found by name") {
  phyllo::TensorFile const file{
      .tensors = {{.name = "a"}, {.name = "b", .type = ElementType::i8}},
      .metadata = {{"step", "12"}, {"empty", ""}},
  };
  REQUIRE(file.find("b") != nullptr);
  CHECK(file.find("b")->type == ElementType::i8);
  CHECK(file.find("c") == nullptr);
  REQUIRE(file.find_metadata("step") != nullptr);
  CHECK(*file.find_metadata("step") == "12");
  CHECK(file.find_metadata("steps") == nullptr);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/core/element_type.hpp>

#include <set>
#include <string_view>

#include <doctest/doctest.h>

static_assert(phyllo::element_size(phyllo::ElementType::f64) == 8);
static_assert(phyllo::element_size(phyllo::ElementType::bf16) == 2);
static_assert(phyllo::element_size(phyllo::ElementType::boolean) == 1);
static_assert(phyllo::element_bits(phyllo::ElementType::f6_e2m3) == 6);
static_assert(phyllo::element_name(phyllo::ElementType::f16) == "f16");
static_assert(phyllo::safetensors_name(phyllo::ElementType::f8_e4m3) == "F8_E4M3");

TEST_CASE("every element type has names of its own, and its spelling leads back to it") {
  std::set<std::string_view> names;
  std::set<std::string_view> spellings;
  int count = 0;
  for (phyllo::detail::ElementTypeFacts const& facts : phyllo::detail::element_types) {
    CHECK(phyllo::element_type_from_safetensors(facts.safetensors_name) == facts.type);
    CHECK(phyllo::element_bits(facts.type) == facts.bits);
    names.insert(facts.name);
    spellings.insert(facts.safetensors_name);
    ++count;
  }
  CHECK(count == 22);
  CHECK(names.size() == 22);
  CHECK(spellings.size() == 22);
}

TEST_CASE("a spelling that the format does not define is unknown") {
  for (std::string_view const spelling : {"", "f32", "F32 ", "FLOAT", "F80", "BOOL8"}) {
    CHECK_FALSE(phyllo::element_type_from_safetensors(spelling).has_value());
  }
}

TEST_CASE("packed elements have no size in bytes") {
  CHECK_THROWS_WITH_AS(phyllo::element_size(phyllo::ElementType::f4),
                       "element_size: expected an element type of whole bytes, got f4, whose "
                       "elements are packed; count its bits with element_bits.",
                       phyllo::Error);
}

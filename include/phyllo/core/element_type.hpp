// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What one number of a stored tensor is: all that the safetensors format defines.
///
/// The order is that of the format's reference implementation, whose writer sorts by it, so that
/// wide elements come first and each tensor is aligned to its element.
///
/// source   https://github.com/huggingface/safetensors, README "Format" and `Dtype`;
///          f4, f6, f8_e8m0: OCP Microscaling Formats (MX) 1.0; f8: arXiv:2209.05433;
///          fnuz: arXiv:2206.02915
enum class ElementType {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};

namespace detail {

struct ElementTypeFacts {
  ElementType type = ElementType::boolean;
  int bits = 0;
  std::string_view name;
  std::string_view safetensors_name;
};

inline constexpr ElementTypeFacts element_types[] = {
    {ElementType::boolean, 8, "boolean", "BOOL"},
    {ElementType::f4, 4, "f4", "F4"},
    {ElementType::f6_e2m3, 6, "f6_e2m3", "F6_E2M3"},
    {ElementType::f6_e3m2, 6, "f6_e3m2", "F6_E3M2"},
    {ElementType::u8, 8, "u8", "U8"},
    {ElementType::i8, 8, "i8", "I8"},
    {ElementType::f8_e5m2, 8, "f8_e5m2", "F8_E5M2"},
    {ElementType::f8_e4m3, 8, "f8_e4m3", "F8_E4M3"},
    {ElementType::f8_e8m0, 8, "f8_e8m0", "F8_E8M0"},
    {ElementType::f8_e4m3fnuz, 8, "f8_e4m3fnuz", "F8_E4M3FNUZ"},
    {ElementType::f8_e5m2fnuz, 8, "f8_e5m2fnuz", "F8_E5M2FNUZ"},
    {ElementType::i16, 16, "i16", "I16"},
    {ElementType::u16, 16, "u16", "U16"},
    {ElementType::f16, 16, "f16", "F16"},
    {ElementType::bf16, 16, "bf16", "BF16"},
    {ElementType::i32, 32, "i32", "I32"},
    {ElementType::u32, 32, "u32", "U32"},
    {ElementType::f32, 32, "f32", "F32"},
    {ElementType::c64, 64, "c64", "C64"},
    {ElementType::f64, 64, "f64", "F64"},
    {ElementType::i64, 64, "i64", "I64"},
    {ElementType::u64, 64, "u64", "U64"},
};

// The rows are indexed by the enumerator.
consteval bool element_types_are_in_order() {
  int position = 0;
  for (ElementTypeFacts const& facts : element_types) {
    if (static_cast<int>(facts.type) != position++) return false;
  }
  return position == static_cast<int>(ElementType::u64) + 1;
}
static_assert(element_types_are_in_order(), "element_types lists the enumerators in their order");

constexpr ElementTypeFacts const& element_type_facts(ElementType type) {
  return element_types[static_cast<std::size_t>(type)];
}

}  // namespace detail

/// Bits of one element in a file; elements of fewer than 8 bits are packed without gaps.
constexpr int element_bits(ElementType type) { return detail::element_type_facts(type).bits; }

/// Bytes of one element in a file, which need not be the size of a C++ type of that name.
///
/// errors   run: f4, f6_e2m3 and f6_e3m2 -> Error, their elements do not fill whole bytes
constexpr std::size_t element_size(ElementType type) {
  if (element_bits(type) % 8 != 0) {
    throw Error("element_size: expected an element type of whole bytes, got " +
                std::string(detail::element_type_facts(type).name) +
                ", whose elements are packed; count its bits with element_bits.");
  }
  return static_cast<std::size_t>(element_bits(type) / 8);
}

/// Phyllo's name of an element type: the enumerator's, for example "bf16".
constexpr std::string_view element_name(ElementType type) {
  return detail::element_type_facts(type).name;
}

/// The spelling of an element type in a safetensors header, for example "BF16".
constexpr std::string_view safetensors_name(ElementType type) {
  return detail::element_type_facts(type).safetensors_name;
}

/// The element type that a safetensors header spells like this; nothing where it is unknown.
constexpr std::optional<ElementType> element_type_from_safetensors(std::string_view spelling) {
  for (detail::ElementTypeFacts const& facts : detail::element_types) {
    if (facts.safetensors_name == spelling) return facts.type;
  }
  return std::nullopt;
}

}  // namespace phyllo::inline PHYLLO_ISA

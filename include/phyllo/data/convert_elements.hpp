// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/element_type.hpp>
#include <phyllo/core/fp16.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::detail {

// Converts `count` elements of a file to those of a View. Returns how many it converted: fewer
// where an integer does not fit.
using ConvertElements = long (*)(std::byte const* from, std::byte* to, long count);

// Whether an integer type has a value.
template <class To, class From> constexpr bool fits(From value) {
  if constexpr (std::is_signed_v<From>)
    if (value < 0)
      return std::is_signed_v<To> &&
             std::int64_t(value) >= std::int64_t(std::numeric_limits<To>::min());
  return std::uint64_t(value) <= std::uint64_t(std::numeric_limits<To>::max());
}

template <class From, class To>
long convert_elements(std::byte const* from, std::byte* to, long count) {
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(to, from, std::size_t(count) * sizeof(To));
    return count;
  } else {
    for (long i = 0; i < count; ++i) {
      From value;
      std::memcpy(&value, from + std::size_t(i) * sizeof(From), sizeof(From));
      To result;
      if constexpr (std::is_integral_v<To>) {
        if (!fits<To>(value)) return i;
        result = To(value);
      } else if constexpr (std::is_same_v<To, double>) {
        result = double(value);
      } else if constexpr (std::is_same_v<From, double> && !std::is_same_v<To, float>) {
        result = To(float(value));
      } else {
        result = To(float(value));
      }
      std::memcpy(to + std::size_t(i) * sizeof(To), &result, sizeof(To));
    }
    return count;
  }
}

// How elements of a type become T; null where they do not: integers are not made of floating
// numbers.
template <class T> ConvertElements convert_from(ElementType type) {
  switch (type) {
    case ElementType::u8:
      return convert_elements<std::uint8_t, T>;
    case ElementType::i8:
      return convert_elements<std::int8_t, T>;
    case ElementType::i16:
      return convert_elements<std::int16_t, T>;
    case ElementType::u16:
      return convert_elements<std::uint16_t, T>;
    case ElementType::u32:
      return convert_elements<std::uint32_t, T>;
    case ElementType::u64:
      return convert_elements<std::uint64_t, T>;
    case ElementType::i32:
      return convert_elements<std::int32_t, T>;
    case ElementType::i64:
      return convert_elements<std::int64_t, T>;
    default:
      break;
  }
  if constexpr (!std::is_integral_v<T>) {
    switch (type) {
      case ElementType::f16:
        return convert_elements<fp16, T>;
      case ElementType::bf16:
        return convert_elements<bf16, T>;
      case ElementType::f32:
        return convert_elements<float, T>;
      case ElementType::f64:
        return convert_elements<double, T>;
      default:
        break;
    }
  }
  return nullptr;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail

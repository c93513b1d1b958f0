// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <phyllo/core/element_type.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A tensor of a file: a name, an element type, extents, and little-endian bytes.
///
/// shape    row-major; no extents: one number; an extent of zero: no numbers and no bytes
struct StoredTensor {
  std::string name = {};
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape = {};
  std::vector<std::byte> bytes = {};

  bool operator==(StoredTensor const&) const = default;
};

/// The contents of one file: tensors with unique names, and text pairs with unique keys.
struct TensorFile {
  std::vector<StoredTensor> tensors = {};
  std::vector<std::pair<std::string, std::string>> metadata = {};

  /// The tensor of this name; null where there is none.
  StoredTensor const* find(std::string_view name) const {
    for (StoredTensor const& tensor : tensors) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }

  /// The text under this key; null where there is none.
  std::string const* find_metadata(std::string_view key) const {
    for (auto const& [present, text] : metadata) {
      if (present == key) return &text;
    }
    return nullptr;
  }

  bool operator==(TensorFile const&) const = default;
};

namespace detail {

// Bytes of the elements of one tensor. Nothing where an extent is negative, where the elements do
// not fill whole bytes, or where the bits or the product of the extents that are not zero leave
// 64 bits: with the latter excluded, strides of an empty tensor cannot overflow in any reader.
constexpr std::optional<std::uint64_t> stored_size(ElementType type,
                                                   std::span<std::int64_t const> shape) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  auto bits = static_cast<std::uint64_t>(element_bits(type));
  bool empty = false;
  for (std::int64_t const extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (bits > largest / static_cast<std::uint64_t>(extent)) return std::nullopt;
    bits *= static_cast<std::uint64_t>(extent);
  }
  if (empty) return 0;
  if (bits % 8 != 0) return std::nullopt;
  return bits / 8;
}

// Extents as text: "[2,3]".
inline std::string shape_text(std::span<std::int64_t const> shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ',';
    text += std::to_string(shape[axis]);
  }
  text += ']';
  return text;
}

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA

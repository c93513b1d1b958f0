// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::host {

/// Bytes of work memory that a thread uses for any matrix product, whatever its shape and type:
/// 4 MiB where vectors have 64 bytes, else 1 MiB.
inline constexpr std::size_t product_bytes = InstructionSet::bytes == 64 ? 4u << 20 : 1u << 20;

/// Where a thread keeps the parts of the operands and the sums of a matrix product.
template <class Product> struct ProductMemory {
  using Sum = typename Product::Sum;
  using Packed = typename Product::Packed;
  /// Numbers between two panels of the right operand.
  static constexpr long right_panel = Product::strips * Product::right_strip;

  Sum* sums;        // (column panels, row panels, rows, columns), or of one group of panels
  std::byte* left;  // of a LeftPart
  Packed* right;    // (panels, strips, strip)
  int panels;       // of the right operand

  /// `bytes`: product_bytes of them. `one_part`: no sums wait for another part of the depth; the
  /// right operand takes their place.
  ProductMemory(std::byte* bytes, bool one_part) {
    sums = reinterpret_cast<Sum*>(bytes);
    std::size_t const sums_end = one_part ? group_size : sums_size, left_end = sums_end + left_size;
    left = bytes + sums_end;
    right = reinterpret_cast<Packed*>(bytes + left_end);
    panels = int((product_bytes - left_end) / panel_size) / Product::together * Product::together;
  }

 private:
  static constexpr std::size_t group_size =
      sizeof(Sum) * Product::group * Product::rows * Product::columns;
  static constexpr std::size_t sums_size =
      sizeof(Sum) * Product::block_rows * Product::block_columns;
  static constexpr std::size_t left_size = Product::LeftPart::bytes;
  static constexpr std::size_t panel_size = sizeof(Packed) * right_panel;
  static constexpr std::size_t right_size = Product::together * panel_size;
  static_assert(Product::block_rows % Product::rows == 0, "a block holds whole panels");
  static_assert(Product::block_columns % Product::columns == 0, "a block holds whole panels");
  static_assert(sums_size + left_size + right_size <= product_bytes, "panels fit the memory");
  static_assert(sums_size % 64 == 0 && left_size % 64 == 0 && group_size % 64 == 0,
                "panels begin at cache lines");
};

}  // namespace phyllo::inline PHYLLO_ISA::host

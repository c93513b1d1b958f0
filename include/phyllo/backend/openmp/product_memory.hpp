// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/instruction_set.hpp>

#include <memory>

namespace phyllo::openmp {

/// Bytes of a thread, for one matrix product after the other. On the heap, because thread-local
/// storage is taken from the threads' stacks.
struct ProductBytes {
  static constexpr long size = InstructionSet::bytes == 64 ? 1280l << 10 : 352l << 10;
  alignas(64) unsigned char byte[size];

  static unsigned char* of_thread() {
    thread_local std::unique_ptr<ProductBytes> const bytes(new ProductBytes);
    return bytes->byte;
  }
};

/// Where a thread keeps the packed panels and the sums of a matrix product: allocated when the
/// thread computes its first one, kept until it ends, the same for every shape and type.
///
/// cost     1.25 MiB a thread where vectors have 64 bytes, else 352 KiB
template <class Product> class ProductMemory {
  using Sum = typename Product::Sum;
  using Packed = typename Product::Packed;
  static constexpr long size = ProductBytes::size;
  static constexpr long sums_size =
      long(sizeof(Sum)) * Product::block_rows * Product::block_columns;
  static constexpr long left_size =
      long(sizeof(Packed)) * Product::block_rows / Product::rows * Product::left_size;
  static constexpr long right_size = long(sizeof(Packed)) * Product::right_size;
  static_assert(Product::block_rows % Product::rows == 0, "a block holds whole panels");
  static_assert(Product::block_columns % Product::columns == 0, "a block holds whole panels");
  static_assert(sums_size + left_size + right_size <= size, "a product's panels fit its memory");
  static_assert(sums_size % 64 == 0 && left_size % 64 == 0, "panels begin at cache lines");

 public:
  Sum* sums;      // (column panels, row panels, rows, columns)
  Packed* left;   // (row panels, panel)
  Packed* right;  // one panel

  ProductMemory() {
    unsigned char* const bytes = ProductBytes::of_thread();
    sums = reinterpret_cast<Sum*>(bytes);
    left = reinterpret_cast<Packed*>(bytes + sums_size);
    right = reinterpret_cast<Packed*>(bytes + sums_size + left_size);
  }
};

}  // namespace phyllo::openmp

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/instruction_set.hpp>

#include <cstddef>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace phyllo::inline PHYLLO_ISA::openmp {

/// Bytes of a thread, for one matrix product after the other: allocated when the thread computes
/// its first one, kept until it ends, the same for every shape and type. On the heap, because
/// thread-local storage is taken from the threads' stacks.
///
/// cost     4 MiB a thread where vectors have 64 bytes, else 512 KiB; where the system grants them,
///          large pages: the panels then lie side by side in the second-level cache too
class ProductBytes {
 public:
  static constexpr std::size_t size = InstructionSet::bytes == 64 ? 4u << 20 : 512u << 10;

  static std::byte* of_thread() {
    thread_local ProductBytes const bytes;
    return bytes.at_.get();
  }

 private:
  static constexpr std::align_val_t alignment{size};
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };

  ProductBytes() : at_(static_cast<std::byte*>(::operator new(size, alignment))) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    madvise(at_.get(), size, MADV_HUGEPAGE);
#endif
  }
  std::unique_ptr<std::byte, Free> at_;
};

/// Where a thread keeps the packed panels and the sums of a matrix product.
template <class Product> struct ProductMemory {
  using Sum = typename Product::Sum;
  using Packed = typename Product::Packed;
  /// Numbers between two panels of an operand.
  static constexpr long left_panel = Product::strips * Product::left_strip;
  static constexpr long right_panel = Product::strips * Product::right_strip;

  Sum* sums;      // (column panels, row panels, rows, columns), or of one group of panels
  Packed* left;   // (row panels, strips, strip)
  Packed* right;  // (panels, strips, strip)
  int panels;     // of the right operand

  /// `one_part`: no sums wait for another part of the depth; the right operand takes their place.
  explicit ProductMemory(bool one_part) {
    std::byte* const bytes = ProductBytes::of_thread();
    sums = reinterpret_cast<Sum*>(bytes);
    std::size_t const sums_end = one_part ? group_size : sums_size, left_end = sums_end + left_size;
    left = reinterpret_cast<Packed*>(bytes + sums_end);
    right = reinterpret_cast<Packed*>(bytes + left_end);
    panels =
        int((ProductBytes::size - left_end) / panel_size) / Product::together * Product::together;
  }

 private:
  static constexpr std::size_t group_size =
      sizeof(Sum) * Product::group * Product::rows * Product::columns;
  static constexpr std::size_t sums_size =
      sizeof(Sum) * Product::block_rows * Product::block_columns;
  static constexpr std::size_t left_size =
      sizeof(Packed) * Product::block_rows / Product::rows * left_panel;
  static constexpr std::size_t panel_size = sizeof(Packed) * right_panel;
  static constexpr std::size_t right_size = Product::together * panel_size;
  static_assert(Product::block_rows % Product::rows == 0, "a block holds whole panels");
  static_assert(Product::block_columns % Product::columns == 0, "a block holds whole panels");
  static_assert(sums_size + left_size + right_size <= ProductBytes::size, "panels fit the memory");
  static_assert(sums_size % 64 == 0 && left_size % 64 == 0 && group_size % 64 == 0,
                "panels begin at cache lines");
};

}  // namespace phyllo::inline PHYLLO_ISA::openmp

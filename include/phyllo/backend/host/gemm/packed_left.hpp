// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::host {

/// A block of a product's left operand as panels that are packed one behind the other.
template <class Product> class PackedLeft {
  using Packed = typename Product::Packed;
  static constexpr long panel_size = Product::strips * Product::left_strip;

 public:
  using Panel = Packed const*;
  static constexpr std::size_t bytes =
      sizeof(Packed) * Product::block_rows / Product::rows * panel_size;

  /// Packs rows [r0, r1), depths [k, k + deep), along the lines of memory, for the hardware to
  /// foresee: rows panel by panel, columns strip by strip.
  PackedLeft(typename Product::Left const& from, long r0, long r1, long k, int deep, long,
             std::byte* room)
      : at_(reinterpret_cast<Packed*>(room)) {
    constexpr bool by_panels = Product::Left::by_rows && Product::strips > 1;
    long const at_a_time = by_panels ? long(Product::rows) : r1 - r0;
    for (long r = r0; r < r1; r += at_a_time)
      for (int s = 0; s < deep; s += Product::strip)
        Product::pack_left(
            from, r, int(r1 - r < at_a_time ? r1 - r : at_a_time), k + s,
            deep - s < Product::strip ? deep - s : Product::strip,
            at_ + (r - r0) / Product::rows * panel_size + s / Product::strip * Product::left_strip,
            panel_size);
  }
  PackedLeft(PackedLeft const&) = delete;
  PackedLeft& operator=(PackedLeft const&) = delete;

  /// Strip number `strip` of a panel.
  Panel panel(int panel, int strip) const {
    return at_ + panel * panel_size + strip * Product::left_strip;
  }

 private:
  Packed* at_;
};

}  // namespace phyllo::inline PHYLLO_ISA::host

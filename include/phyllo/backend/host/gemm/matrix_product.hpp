// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/operand_prefetch.hpp>
#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/work_memory.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// epilogue(left right): rows x columns sums over the depth. One work item: one block of the grid
/// that the result is cut into.
///
/// numerics a sum runs over the depth in rising order, in parts of Product::depth, in one thread:
///          its bits depend neither on the number of threads nor on where it stands in a block
/// cost     2 rows columns depth FLOPs; the left operand is packed, or its lines are found, once
///          for every Product::block_columns columns;
///          the right one is packed for every Product::block_rows rows, or once where the depth is
///          one part
/// source   Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
///          ACM TOMS 34 (2008) 12; here the sums of a block, not the panels of the right operand,
///          fill the second-level cache: they are wanted in the accumulation type until the last
///          part of the depth, when `epilogue` takes each register block from the first-level cache
template <class Product, class Right, class Epilogue> struct MatrixProduct {
  using Sum = typename Product::Sum;
  using Packed = typename Product::Packed;
  using Memory = ProductMemory<Product>;
  using LeftPart = typename Product::LeftPart;

  typename Product::Left left;  // (rows, depth)
  Right right;                  // (depth, columns)
  Epilogue epilogue;
  op::WorkMemory work;
  long rows = 0;
  long columns = 0;
  long depth = 0;
  int row_pieces = 1;
  int column_pieces = 1;

  void operator()(int piece) const {
    [[maybe_unused]] typename Product::Session const session;
    bool const one_part = depth <= Product::depth;
    Memory const memory(work.slice(piece), one_part);
    long const r0 = piece_begin(rows, Product::rows, piece / column_pieces, row_pieces);
    long const r1 = piece_begin(rows, Product::rows, piece / column_pieces + 1, row_pieces);
    long const c0 = piece_begin(columns, Product::columns, piece % column_pieces, column_pieces);
    long const c1 =
        piece_begin(columns, Product::columns, piece % column_pieces + 1, column_pieces);
    int const row_blocks = int(parts(r1 - r0, Product::block_rows));
    // Where the depth is one part, no sums wait for the others: a block is as wide as the packed
    // right operand may be, which is then packed once for all rows.
    long const wide = one_part ? memory.panels * long(Product::columns) : Product::block_columns;
    int const column_blocks = int(parts(c1 - c0, wide));
    for (int b = 0; b < row_blocks * column_blocks; ++b) {
      int const i = one_part ? b % row_blocks : b / column_blocks;
      int const j = one_part ? b / row_blocks : b % column_blocks;
      block(memory, r0 + piece_begin(r1 - r0, Product::rows, i, row_blocks),
            r0 + piece_begin(r1 - r0, Product::rows, i + 1, row_blocks),
            c0 + piece_begin(c1 - c0, Product::columns, j, column_blocks),
            c0 + piece_begin(c1 - c0, Product::columns, j + 1, column_blocks), one_part, i == 0);
    }
  }

  /// Pieces for as many threads: blocks of which the largest costs least, packing counted.
  void cut_for(int threads) {
    double const few = 1.0 * double(rows) * double(columns) * double(depth) / fewest_products;
    if (few < threads) threads = few < 1 ? 1 : int(few);
    double best = 0;
    for (int r = 1; r <= threads; ++r) {
      int const c = threads / r;
      double const height = double(parts(parts(rows, Product::rows), r) * Product::rows);
      double const width = double(parts(parts(columns, Product::columns), c) * Product::columns);
      double const cost = height * width + packing_cost * (height + width);
      if (r > 1 && cost >= best) continue;
      best = cost;
      row_pieces = r;
      column_pieces = c;
    }
  }
  int pieces() const { return row_pieces * column_pieces; }

 private:
  static constexpr double fewest_products = 1 << 17;  // of a piece: some microseconds
  static constexpr double packing_cost = 12;          // of a number, in products

  static constexpr long parts(long count, long size) { return (count + size - 1) / size; }

  // `kept`: packed panels of the right operand stay for the blocks below, `fresh`: they are to be
  // packed.
  void block(Memory const& memory, long r0, long r1, long c0, long c1, bool kept,
             bool fresh) const {
    int const row_panels = int(parts(r1 - r0, Product::rows));
    int const column_panels = int(parts(c1 - c0, Product::columns));
    // At least one part: of no depth at all, sums are written too.
    for (long k = 0; k == 0 || k < depth; k += Product::depth) {
      int const deep = int(depth - k < Product::depth ? depth - k : Product::depth);
      LeftPart const part(left, r0, r1, k, deep, depth, memory.left);
      for (int j = 0; j < column_panels; j += Product::together) {
        int const j_end =
            j + Product::together < column_panels ? j + Product::together : column_panels;
        long const column = c0 + j * long(Product::columns);
        long const after = c0 + j_end * long(Product::columns);
        long const more = c1 - after < together_columns ? c1 - after : together_columns;
        int const count = int((after < c1 ? after : c1) - column);
        int const place = kept ? j : 0;
        if (fresh || !kept)
          for (int s = 0; s < deep; s += Product::strip)
            Product::pack_right(right, k + s, strip_of(deep, s), column, count,
                                memory.right + place * Memory::right_panel +
                                    s / Product::strip * Product::right_strip,
                                Memory::right_panel);
        if constexpr (Epilogue::sums_columns)
          if (r0 == 0 && epilogue.column_sums != nullptr)
            add_columns(memory, place, deep, k, column, count);
        int const calls = (j_end - j) * row_panels * strips_of(deep);
        bool const wanted = more > 0 && (fresh || !kept);
        OperandPrefetch<Right> next(right, k, wanted ? after : column, wanted ? deep : 0,
                                    wanted ? more : 0, calls);
        for (int p = j; p < j_end; ++p)
          panel(memory, part, r0, r1, c0, c1, p, place + p - j, k, deep, next);
      }
    }
  }

  // All panels of the left operand by one of the right one.
  void panel(Memory const& memory, LeftPart const& part, long r0, long r1, long c0, long c1, int j,
             int place, long k, int deep, OperandPrefetch<Right>& next) const {
    long const column = c0 + j * long(Product::columns);
    int const count = columns_of(c0, c1, j), row_panels = int(parts(r1 - r0, Product::rows));
    alignas(64) Sum line[Product::columns];
    Sum const* const first = k == 0 ? epilogue.first(column, count, line) : nullptr;
    for (int i = 0; i < row_panels; i += Product::group) {
      // Sums that no other part of the depth adds to stay in the first-level cache.
      Sum* const sums =
          memory.sums + (depth <= Product::depth ? 0 : (long(j) * row_panels + i) * block_size);
      int const end = i + Product::group < row_panels ? i + Product::group : row_panels;
      group(memory, part, r0, r1, i, end, place, column, count, k, deep, sums, first, next);
      if (k + deep == depth)
        for (int p = i; p < end; ++p)
          epilogue.template store<Product::columns>(sums + (p - i) * block_size,
                                                    r0 + p * long(Product::rows),
                                                    rows_of(r0, r1, p), column, count);
    }
  }

  // Some panels of the left operand by one of the right one, strip by strip: a strip of the right
  // one and the sums stay in the first-level cache.
  void group(Memory const& memory, LeftPart const& part, long r0, long r1, int begin, int end,
             int place, long column, int count, long k, int deep, Sum* sums, Sum const* first,
             OperandPrefetch<Right>& next) const {
    int s = 0;
    do {
      int const at = s / Product::strip;
      for (int p = begin; p < end; ++p) {
        next();
        if (k + deep == depth)
          epilogue.prefetch(r0 + p * long(Product::rows), rows_of(r0, r1, p), column, at,
                            strips_of(deep));
        Product::multiply(rows_of(r0, r1, p), count, strip_of(deep, s), part.panel(p, at),
                          memory.right + place * Memory::right_panel + at * Product::right_strip,
                          sums + (p - begin) * block_size, first, k == 0 && s == 0);
      }
      s += Product::strip;
    } while (s < deep);
  }

  static constexpr long together_columns = long(Product::together) * Product::columns;
  static constexpr long block_size = long(Product::rows) * Product::columns;
  // At least one, of no depth.
  static int strips_of(int deep) { return deep > 0 ? int(parts(deep, Product::strip)) : 1; }
  static int strip_of(int deep, int s) {
    return deep - s < Product::strip ? deep - s : Product::strip;
  }
  static int rows_of(long r0, long r1, int i) {
    long const left_over = r1 - r0 - i * long(Product::rows);
    return int(left_over < Product::rows ? left_over : Product::rows);
  }
  static int columns_of(long c0, long c1, int j) {
    long const left_over = c1 - c0 - j * long(Product::columns);
    return int(left_over < Product::columns ? left_over : Product::columns);
  }

  void add_columns(Memory const& memory, int place, int deep, long k, long column,
                   int count) const {
    for (int j = 0; j * Product::columns < count; ++j) {
      Sum* const sums = epilogue.column_sums + column + j * Product::columns;
      int const some = columns_of(0, count, j);
      alignas(64) Sum line[Product::columns];
      for (int c = 0; c < Product::columns; ++c) line[c] = Sum(0);
      for (int s = 0; s < deep; s += Product::strip)
        Product::add_columns(memory.right + (place + j) * Memory::right_panel +
                                 s / Product::strip * Product::right_strip,
                             strip_of(deep, s), some, line);
      for (int c = 0; c < some; ++c) sums[c] = k > 0 ? sums[c] + line[c] : line[c];
    }
  }
};

/// Runs a product on the instance.
template <class Product, class Right, class Epilogue, class Space>
void launch_product(Space const& exec, std::string const& label, typename Product::Left const& left,
                    Right const& right, Epilogue const& epilogue, op::WorkMemory const& work,
                    long rows, long columns, long depth) {
  if (rows == 0 || columns == 0) return;
  KOKKOS_ASSERT(work.slices > 0);
  MatrixProduct<Product, Right, Epilogue> product{left, right,   epilogue, work,
                                                  rows, columns, depth};
  product.cut_for(exec.concurrency() < work.slices ? exec.concurrency() : work.slices);
  launch(exec, label, product.pieces(), product);
}

}  // namespace phyllo::inline PHYLLO_ISA::host

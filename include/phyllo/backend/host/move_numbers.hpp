// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/move_planes.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Numbers of a sample into their places, or added to what is there.
template <class P, bool Adds> struct MoveNumbers {
  using A = typename P::accumulate;
  using S = typename P::storage;

  PHYLLO_INLINE_ON_HOST static void one(S const* x, S* y) {
    if constexpr (Adds)
      *y = S(A(*y) + A(*x));
    else
      *y = *x;
  }
  static void run(S const* x, int count, S* y) {
    if constexpr (Adds) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < count; ++i) store_number(number<A>(y, i) + number<A>(x, i), y, i);
    } else if (count < 32) {
      for (int i = 0; i < count; ++i) y[i] = x[i];
    } else {
      std::memcpy(y, x, sizeof(S) * std::size_t(count));
    }
  }
  static void fill(S value, int count, S* y) {
    if constexpr (!Adds)  // else it is zero
      for (int i = 0; i < count; ++i) y[i] = value;
  }
  static void strided(S const* x, long step, int count, S* y) {
    for (int i = 0; i < count; ++i) one(x + i * step, y + i);
  }
  /// y[c, r] from x[r, c], plane by plane.
  static void transpose(S const* x, MovePlanes const& planes, S* y) {
    long const x_stride = planes.inner.source_stride, y_stride = planes.outer_stride;
    int const rows = planes.inner.extent, columns = planes.outer.extent;
    auto const each = [&](auto const& move) {
      for (int i = 0; i < planes.repeats; ++i, x += planes.source_step, y += planes.target_step)
        move(x, y);
    };
    if constexpr (in_registers) {
      bool const is_run = x_stride == columns && y_stride == rows;
      int const size = is_run && (rows & (rows - 1)) == 0 ? rows * columns : 0;
      switch (size % lanes<R> == 0 ? size / lanes<R> : 0) {
        case 2:
          return each([rows](S const* from, S* to) { rotate<2>(from, rows, to); });
        case 4:
          return each([rows](S const* from, S* to) { rotate<4>(from, rows, to); });
        case 8:
          return each([rows](S const* from, S* to) { rotate<8>(from, rows, to); });
        default:
          break;
      }
    }
    if (columns == 2 && x_stride == 2)
      each([=](S const* from, S* to) { separate<2, 2>(from, rows, to, y_stride); });
    else if (columns == 2 && x_stride == 4)
      each([=](S const* from, S* to) { separate<2, 4>(from, rows, to, y_stride); });
    else if (rows == 2 && y_stride == 2)
      each([=](S const* from, S* to) { mingle<2>(from, x_stride, columns, to); });
    else if (rows == 3 && y_stride == 3)
      each([=](S const* from, S* to) { mingle<3>(from, x_stride, columns, to); });
    else if (rows == 4 && y_stride == 4)
      each([=](S const* from, S* to) { mingle<4>(from, x_stride, columns, to); });
    else
      each([=](S const* from, S* to) { blocks(from, x_stride, rows, columns, to, y_stride); });
  }

 private:
  // What numbers are in registers, where they lose nothing.
  using R = std::conditional_t<sizeof(S) == 2, float, S>;
  static constexpr bool in_registers = !Adds;

  static PHYLLO_INLINE_ON_HOST void put(Vector<R> v, S* to) {
    if constexpr (std::is_same_v<S, R>) {
      InstructionSet::store(to, v);
    } else {
      R numbers[lanes<R>];
      InstructionSet::store(numbers, v);
      if constexpr (std::is_same_v<S, bf16>) {  // there is nothing to round
        auto* const bits = reinterpret_cast<std::uint16_t*>(to);
        PHYLLO_SIMD(16)
        for (int l = 0; l < lanes<R>; ++l)
          bits[l] = std::uint16_t(std::bit_cast<std::uint32_t>(numbers[l]) >> 16);
      } else {
        store_numbers(numbers, lanes<R>, to);
      }
    }
  }

  // A plane without gaps of powers of two: its transposition rotates the bits of places.
  template <int Count> PHYLLO_INLINE_ON_HOST static void rotate(S const* x, int rows, S* y) {
    Vector<R> v[Count];
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < Count; ++i) v[i] = InstructionSet::load(x + i * lanes<R>);
    for (; rows > 1; rows /= 2) interleave_halves<R>(v);
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < Count; ++i) put(v[i], y + i * lanes<R>);
  }
  // Few columns, whose distance compilers know.
  template <int Columns, int Stride>
  PHYLLO_INLINE_ON_HOST static void separate(S const* x, int rows, S* y, long y_stride) {
    for (int c = 0; c < Columns; ++c, y += y_stride) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < rows; ++r) one(x + r * Stride + c, y + r);
    }
  }
  // Few rows, whose numbers become neighbours.
  template <int Rows>
  PHYLLO_INLINE_ON_HOST static void mingle(S const* x, long x_stride, int columns, S* y) {
    PHYLLO_SIMD(16)
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < Rows; ++r) one(x + r * x_stride + c, y + c * Rows + r);
  }
  static PHYLLO_INLINE_ON_HOST void square(S const* x, long x_stride, S* y, long y_stride) {
    VectorSquare<R> numbers;
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < lanes<R>; ++r) numbers.row[r] = InstructionSet::load(x + r * x_stride);
    numbers.transpose();
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < lanes<R>; ++r) put(numbers.row[r], y + r * y_stride);
  }
  static void blocks(S const* x, long x_stride, int rows, int columns, S* y, long y_stride) {
    constexpr int block = 16;
    for (int c = 0; c < columns; c += block)
      for (int r = 0; r < rows; r += block) {
        int const height = rows - r < block ? rows - r : block;
        int const width = columns - c < block ? columns - c : block;
        S const* const from = x + r * x_stride + c;
        S* const to = y + c * y_stride + r;
        if constexpr (in_registers) {
          if (height == block && width == block) {
            constexpr int size = lanes<R>;
            for (int j = 0; j < block; j += size)
              for (int i = 0; i < block; i += size)
                square(from + i * x_stride + j, x_stride, to + j * y_stride + i, y_stride);
            continue;
          }
        }
        for (int j = 0; j < width; ++j) strided(from + j, x_stride, height, to + j * y_stride);
      }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

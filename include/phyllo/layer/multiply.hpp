// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/map.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Product of two values, element by element: the layer of MultiplyBy<tag>. Either value may be a
/// gate for each channel, (N, C) or (N, C, 1...), or for each position, (N, 1, S...).
///
/// shape    (N, C, S...), (N, C, S...) -> (N, C, S...)
/// errors   compile: shapes that differ in more than a single position or channel; one value only
/// numerics in Precision::accumulate; the gradient of a gate is a sum within a sample
/// cost     two reads, one write
/// source   Hu, Shen and Sun, "Squeeze-and-Excitation Networks", CVPR 2018, eq. 4
struct Multiply : Map {
  static constexpr char const* name = "multiply";
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};

  template <class T> PHYLLO_INLINE static T value(T a, T b) { return a * b; }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T a, T b) { return {b, a}; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Multiply: MultiplyBy requires two values of the same shape, or one of a single "
                  "position or channel. Change the part before Save or before MultiplyBy.");
  };
};

/// Sum of two values, element by element: Combine<Plus, tag>, such as an embedding of time for all
/// positions of an image. Broadcast as in Multiply; of two values of one shape AddFrom<tag> is the
/// same, and fused with its neighbours.
///
/// shape    (N, C, S...), (N, C, S...) -> (N, C, S...)
/// errors   compile: as Multiply
/// numerics as Multiply
/// cost     two reads, one write
/// source   none
struct Plus : Map {
  static constexpr char const* name = "plus";
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};

  template <class T> PHYLLO_INLINE static T value(T a, T b) { return a + b; }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T, T) { return {T(1), T(1)}; }
};

/// Difference of two values, element by element: Combine<Subtract, tag> is the current value minus
/// the saved one. Broadcast as in Multiply.
///
/// shape    (N, C, S...), (N, C, S...) -> (N, C, S...)
/// errors   compile: as Multiply
/// numerics in Precision::accumulate
/// cost     two reads, one write
/// source   none
struct Subtract : Map {
  static constexpr char const* name = "subtract";
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};

  template <class T> PHYLLO_INLINE static T value(T a, T b) { return a - b; }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T, T) { return {T(1), T(-1)}; }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::op {

enum class PositionKind : std::uint8_t { learned, sinusoidal, rotary };

/// t / base^(2 i / width): the angle of pair i of `width` channels at position t.
template <class T> PHYLLO_INLINE T position_angle(T log_base, int t, int i, int width) {
  return T(t) * Kokkos::exp(-log_base * T(2 * i) / T(width));
}

template <class T> struct PositionNumbers {
  T first, second;
};

/// Numbers that depend on the position: a table of parameters or sines added to each sample, or
/// pairs of channels rotated.
///
/// shape    x, y (N, T, C) · table (T, C)
/// numerics angles in the accumulation type
/// cost     one read, one write
template <PositionKind Kind> struct Position {
  static constexpr PositionKind kind = Kind;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0;
    int positions = 0, channels = 0;
    int width = 0;    // channels that share one sequence of angles: of the value, or of a head
    int rotated = 0;  // channels that are rotated: the first ones
    accumulate log_base = 0;
    storage const* table = nullptr;  // learned
    storage const* x = nullptr;
    storage* y = nullptr;
    // The gradient: no sum with a table, rotations the other way, and a sum with what y contains.
    bool backward = false;
    bool accumulate_y = false;

    /// What channel c of position t adds to its number, or the factors of it and of the other one
    /// of its pair.
    PHYLLO_FUNCTION PositionNumbers<accumulate> numbers(int t, int c) const {
      using A = accumulate;
      if constexpr (Kind == PositionKind::rotary) {
        if (c >= rotated) return {A(1), A(0)};
        A const angle = position_angle(log_base, t, c % width / 2, width);
        A const sine = Kokkos::sin(angle);
        return {Kokkos::cos(angle), (c % 2 == 0) == backward ? sine : -sine};
      } else if constexpr (Kind == PositionKind::learned) {
        return {A(table[long(t) * channels + c]), A(0)};
      } else {
        A const angle = position_angle(log_base, t, c / 2, width);
        return {c % 2 == 0 ? Kokkos::sin(angle) : Kokkos::cos(angle), A(0)};
      }
    }
    /// Number `at` of y, which is of channel c.
    PHYLLO_FUNCTION void write(long at, int c, PositionNumbers<accumulate> const& n) const {
      using A = accumulate;
      A value = A(x[at]);
      if constexpr (Kind == PositionKind::rotary)
        value = value * n.first + A(x[c >= rotated ? at : c % 2 == 0 ? at + 1 : at - 1]) * n.second;
      else if (!backward)
        value += n.first;
      y[at] = storage(accumulate_y ? A(y[at]) + value : value);
    }
  };

  /// d_table[t, c] = sum over n of d_y[n, t, c]: the samples in rising order.
  template <class Precision> struct BackwardParameters {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0;
    int size = 0;  // T C
    storage const* d_y = nullptr;
    accumulate* d_table = nullptr;  // written
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

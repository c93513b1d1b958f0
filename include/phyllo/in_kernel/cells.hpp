// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Abort.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// The variables of N neighbouring cells of the caller's loop, for one call of a network inside a
/// kernel: on a processor, one cell for each lane of a vector.
///
/// shape    (Count variables, N cells)
/// errors   in debug builds, load and store of a variable that does not exist abort; cells past the
///          last one are zero after `load`, computed, and never stored
/// cost     a field whose neighbouring cells are contiguous is one vector load or store
template <class T, int Count, int N> struct Cells {
  alignas(64) T value[Count][N] = {};

  PHYLLO_FUNCTION static constexpr int variables() { return Count; }
  PHYLLO_FUNCTION static constexpr int cells() { return N; }
  PHYLLO_FUNCTION T& operator()(int variable, int cell) { return value[variable][cell]; }
  PHYLLO_FUNCTION T const& operator()(int variable, int cell) const {
    return value[variable][cell];
  }

  /// Cells [first, last), at most N of them, of a field: anything with (cell).
  template <class Field>
  PHYLLO_INLINE void load(int variable, Field const& field, long first, long last) {
    check(variable);
    if (last - first >= N)
      for (int i = 0; i < N; ++i) value[variable][i] = T(field(first + i));
    else
      for (int i = 0; i < N; ++i)
        value[variable][i] = first + i < last ? T(field(first + i)) : T(0);
  }
  template <class Field>
  PHYLLO_INLINE void store(int variable, Field const& field, long first, long last) const {
    check(variable);
    if (last - first >= N)
      for (int i = 0; i < N; ++i) assign(field(first + i), value[variable][i]);
    else
      for (int i = 0; first + i < last; ++i) assign(field(first + i), value[variable][i]);
  }

 private:
  // An atomic View returns an object that takes the number; a storage type is made from it.
  template <class Place> PHYLLO_INLINE static void assign(Place&& place, T x) {
    if constexpr (std::is_lvalue_reference_v<Place>)
      place = std::remove_reference_t<Place>(x);
    else
      place = x;
  }
  PHYLLO_FUNCTION static void check([[maybe_unused]] int variable) {
#if PHYLLO_CHECKS_CALLS
    if (variable < 0 || variable >= Count)
      Kokkos::abort("Cells: a variable is numbered from 0 and below Cells::variables().");
#endif
  }
};

namespace detail {
template <class T> inline constexpr bool is_cells = false;
template <class T, int Count, int N> inline constexpr bool is_cells<Cells<T, Count, N>> = true;
}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA

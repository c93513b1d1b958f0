// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/network/ports.hpp>

#include <Kokkos_Abort.hpp>

#include <cstddef>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

template <class T, int Count, int N> struct Cells;

/// The numbers that a network returns inside a kernel; a single number converts to that number.
///
/// shape    N numbers in the field's order (C, S...)
/// errors   in debug builds an index that is not below N aborts
template <class T, int N> struct Values {
  T value[N] = {};

  PHYLLO_FUNCTION static constexpr int size() { return N; }
  PHYLLO_FUNCTION constexpr T& operator[](int i) {
    check(i);
    return value[i];
  }
  PHYLLO_FUNCTION constexpr T const& operator[](int i) const {
    check(i);
    return value[i];
  }
  PHYLLO_FUNCTION constexpr operator T() const
    requires(N == 1)
  {
    return value[0];
  }

  PHYLLO_FUNCTION static constexpr void check([[maybe_unused]] int i) {
#if PHYLLO_CHECKS_CALLS
    if (i < 0 || i >= N)
      Kokkos::abort(
          "in_kernel: the result was read at an index that it does not have. Indices are from 0 "
          "and "
          "below size().");
#endif
  }
};

namespace detail {

// Input or output number I as constants, which device code may read.
template <class Net, int I> struct InputFacts {
  static constexpr int node = Ports<Net>::input_node(I);
  static constexpr int channels = Ports<Net>::input_shape(I).channels;
  static constexpr int positions = Ports<Net>::input_shape(I).positions();
};
template <class Net, int I> struct OutputFacts {
  static constexpr int node = Ports<Net>::output_node(I);
  static constexpr int channels = Ports<Net>::output_shape(I).channels;
  static constexpr int positions = Ports<Net>::output_shape(I).positions();
};
template <class Net, class Tag>
inline constexpr int output_place = Ports<Net>::template output_of<Tag>();

template <int Place, class V> struct OutputItem {
  V values{};
};
template <class Net, class T, class Sequence> struct OutputItems;
template <class Net, class T, std::size_t... I>
struct OutputItems<Net, T, std::index_sequence<I...>>
    : OutputItem<int(I), Values<T, OutputFacts<Net, int(I)>::channels *
                                       OutputFacts<Net, int(I)>::positions>>... {};

template <class Net, class T, int N, class Sequence> struct CellItems;
template <class Net, class T, int N, std::size_t... I>
struct CellItems<Net, T, N, std::index_sequence<I...>>
    : OutputItem<int(I),
                 Cells<T, OutputFacts<Net, int(I)>::channels * OutputFacts<Net, int(I)>::positions,
                       N>>... {};

// The compiler finds V from the place.
template <int Place, class V> PHYLLO_FUNCTION V& output_item(OutputItem<Place, V>& item) {
  return item.values;
}
template <int Place, class V>
PHYLLO_FUNCTION V const& output_item(OutputItem<Place, V> const& item) {
  return item.values;
}

}  // namespace detail

/// The outputs of a network with several of them inside a kernel.
///
/// errors   compile: get<tag>() with a tag that no Output<tag> of the network names
template <class Net, class T>
struct Outputs
    : detail::OutputItems<Net, T, std::make_index_sequence<std::size_t(Ports<Net>::outputs)>> {
  /// The values of Output<Tag>.
  template <class Tag> PHYLLO_FUNCTION auto const& get() const {
    constexpr int place = detail::output_place<Net, Tag>;
    static_assert(place >= 0,
                  "get<tag>: the network has no output of that name. Put Output<tag> after the "
                  "part that computes it.");
    constexpr int known = place < 0 ? 0 : place;  // one error is enough
    return detail::output_item<known>(*this);
  }
};

/// The same for N cells at once: get<tag>() is Cells.
///
/// errors   as Outputs
template <class Net, class T, int N>
struct CellOutputs
    : detail::CellItems<Net, T, N, std::make_index_sequence<std::size_t(Ports<Net>::outputs)>> {
  template <class Tag> PHYLLO_FUNCTION auto const& get() const {
    constexpr int place = detail::output_place<Net, Tag>;
    static_assert(place >= 0,
                  "get<tag>: the network has no output of that name. Put Output<tag> after the "
                  "part that computes it.");
    constexpr int known = place < 0 ? 0 : place;  // one error is enough
    return detail::output_item<known>(*this);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

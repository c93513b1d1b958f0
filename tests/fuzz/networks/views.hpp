// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "placement.hpp"

#include <phyllo/core/shape.hpp>
#include <phyllo/model/bind.hpp>

#include <Kokkos_Core.hpp>

#include <vector>

namespace networks {

template <class T, int Rank> struct Pointer {
  using type = typename Pointer<T, Rank - 1>::type*;
};
template <class T> struct Pointer<T, 0> {
  using type = T;
};
/// A View of any layout, since strides are given at run time.
template <class T, int Rank>
using External = Kokkos::View<typename Pointer<T, Rank>::type, Kokkos::LayoutStride,
                              Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <int Rank, class T, class M> External<T, Rank> view_of(Memory<M>& memory) {
  Kokkos::LayoutStride layout;
  for (int i = 0; i < Rank; ++i) {
    layout.dimension[i] = memory.placement().extent[std::size_t(i)];
    layout.stride[i] = memory.placement().stride[std::size_t(i)];
  }
  return External<T, Rank>(memory.data(), layout);
}

/// The same memory (N, C) as one View for each channel.
template <class T, class M> phyllo::Gathered<External<T, 1>> gathered_view_of(Memory<M>& memory) {
  phyllo::Gathered<External<T, 1>> all;
  Placement const& p = memory.placement();
  all.variables = int(p.extent[1]);
  for (int c = 0; c < all.variables; ++c)
    all.view[c] = External<T, 1>(memory.data() + std::size_t(c) * p.stride[1],
                                 Kokkos::LayoutStride(p.extent[0], p.stride[0]));
  return all;
}

inline std::vector<int> extents_of(phyllo::Shape const& s) {
  std::vector<int> extents;
  for (int i = 0; i <= s.rank; ++i) extents.push_back(s.extent(i));
  return extents;
}

/// A sample as a kernel reads or writes it.
template <class T> struct Row {
  T* data;
  T& operator[](int i) const { return data[i]; }
};

}  // namespace networks

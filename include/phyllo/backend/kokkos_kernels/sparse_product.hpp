// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/kokkos_kernels/kernels.hpp>
#include <phyllo/op/sparse_product.hpp>
#include <phyllo/policy/precision.hpp>

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace phyllo::inline PHYLLO_ISA::kokkos_kernels {

/// Products with sparse matrices by KokkosSparse::spmv on all channels at once, graph by graph, on
/// the arrays as they are. Numbers and sums have one type.
///
/// numerics sums in an order that the library chooses
template <class P> struct SparseProduct {
  using T = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::SparseProduct::Product<P> const& work) {
    using Device = Kokkos::Device<Space, typename Space::memory_space>;
    using Matrix =
        KokkosSparse::CrsMatrix<T const, std::int32_t const, Device,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>, std::int32_t const>;
    auto const& a = work.matrix;
    if (work.groups == 0 || a.rows == 0) return;
    auto const rows = std::size_t(a.rows), count = std::size_t(a.count);
    Matrix const matrix("phyllo: sparse matrix", a.rows, a.rows, a.count,
                        typename Matrix::values_type(a.values, count),
                        typename Matrix::row_map_type(a.row_map, rows + 1),
                        typename Matrix::index_type(a.entries, count));
    for (long g = 0; g < work.groups; ++g) {
      long const first = g * a.rows * work.channels;
      KokkosSparse::spmv(
          exec, "N", T(1), matrix, numbers<Device>(work.x + first, rows, work.channels),
          T(work.accumulate ? 1 : 0), numbers<Device>(work.y + first, rows, work.channels));
    }
  }

 private:
  template <class Device, class Element>
  static auto numbers(Element* data, std::size_t rows, int channels) {
    return Kokkos::View<Element**, Kokkos::LayoutRight, Device, Kokkos::MemoryUnmanaged>(
        data, rows, std::size_t(channels));
  }
};

template <> struct Kernels<op::SparseProduct, Full<double>> : SparseProduct<Full<double>> {};
template <> struct Kernels<op::SparseProduct, Full<float>> : SparseProduct<Full<float>> {};

}  // namespace phyllo::inline PHYLLO_ISA::kokkos_kernels

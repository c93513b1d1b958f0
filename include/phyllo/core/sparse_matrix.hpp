// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/allocate.hpp>
#include <phyllo/core/launch_label.hpp>
#include <phyllo/core/sparse_rows.hpp>
#include <phyllo/core/sparse_structure.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The name of a network's matrix where it has only one.
struct adjacency;

/// Values of a matrix and of its transpose from one array. One work item: one entry.
template <class Scalar, class Source> struct StoreSparseValues {
  Source source;
  std::int32_t const* order = nullptr;
  Scalar* values = nullptr;
  Scalar* transposed = nullptr;
  PHYLLO_FUNCTION void operator()(std::int32_t k) const {
    values[k] = Scalar(source(k));
    transposed[k] = Scalar(source(order[k]));
  }
};

/// A square sparse matrix by compressed rows, with its transpose: the graph of a SparseProduct or a
/// GraphConvolution. Its values are not trained.
///
/// shape    row_map (rows + 1) · entries (count), columns in any order · values (count)
/// state    copies of the caller's arrays, and the transpose, in the memory of Space; copies of the
///          object share them, also with the models that it is bound to
/// errors   run: no row_map, one that does not begin with zero, decreases or does not end with the
///          number of entries; a column outside of the matrix; other numbers of values than of
///          entries; more than 2^31 - 1 of them; no room in memory -> Error
/// numerics repeated entries of a row are added; rows without entries are zero
/// cost     twice 4 bytes a row, twice 4 bytes and a number an entry, 4 bytes an entry more; the
///          constructor finds the transpose on the host and blocks, set_values is asynchronous
/// source   none
template <class Scalar = float, class Space = Kokkos::DefaultExecutionSpace> class SparseMatrix {
 public:
  using scalar = Scalar;
  using space = Space;
  template <class T>
  using Vector = Kokkos::View<T*, Kokkos::LayoutRight, typename Space::memory_space>;

  SparseMatrix() = default;

  /// From Views of rank 1 in any memory, whose contents are complete or written on `exec`.
  template <class RowMap, class Entries, class Values>
  SparseMatrix(Space const& exec, RowMap const& row_map, Entries const& entries,
               Values const& values) {
    exec.fence("phyllo: sparse matrix");
    if (row_map.extent(0) == 0)
      throw Error(
          "SparseMatrix: expected a row_map of one number more than rows, got an empty one.");
    if (values.extent(0) != entries.extent(0))
      throw Error("SparseMatrix: expected " + std::to_string(entries.extent(0)) +
                  " values, one for each entry, got " + std::to_string(values.extent(0)) + ".");
    SparseStructure structure;
    structure.row_map = integers(row_map, "row_map");
    structure.entries = integers(entries, "entries");
    structure.check();
    std::vector<std::int32_t> order;
    SparseStructure const transposed = structure.transposed(order);
    rows_ = structure.rows();
    count_ = std::int32_t(structure.entries.size());
    row_map_ = on_device(exec, structure.row_map);
    entries_ = on_device(exec, structure.entries);
    transposed_row_map_ = on_device(exec, transposed.row_map);
    transposed_entries_ = on_device(exec, transposed.entries);
    order_ = on_device(exec, order);
    values_ = room<Scalar>(exec, count_);
    transposed_values_ = room<Scalar>(exec, count_);
    set_values(exec, Kokkos::create_mirror_view_and_copy(typename Space::memory_space(), values));
    exec.fence("phyllo: sparse matrix");
  }

  /// From a matrix with `graph.row_map`, `graph.entries` and `values`, such as
  /// KokkosSparse::CrsMatrix.
  template <class Crs>
    requires requires(Crs const& a) {
      a.graph.row_map, a.graph.entries, a.values, a.numRows(), a.numCols();
    }
  SparseMatrix(Space const& exec, Crs const& a)
      : SparseMatrix(exec, a.graph.row_map, a.graph.entries, a.values) {
    if (long(a.numRows()) != long(a.numCols()))
      throw Error("SparseMatrix: expected a square matrix, got " + std::to_string(a.numRows()) +
                  " rows and " + std::to_string(a.numCols()) + " columns.");
  }

  std::int32_t rows() const { return rows_; }
  std::int32_t entry_count() const { return count_; }

  /// Other values at the same entries, as a simulation assembles them in each step; asynchronous.
  /// Models that the matrix is bound to read them from then on; not between a forward and its
  /// backward.
  ///
  /// shape    values (count) in the order of the constructor's, in memory that Space accesses
  template <class Values> void set_values(Space const& exec, Values const& values) {
    if (long(values.extent(0)) != long(count_))
      throw Error("SparseMatrix, set_values: expected " + std::to_string(count_) +
                  " values, one for each entry, got " + std::to_string(values.extent(0)) + ".");
    if (count_ == 0) return;
    Kokkos::parallel_for(
        launch_label("phyllo: values of a sparse matrix"),
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int32_t>>(exec, 0, count_),
        StoreSparseValues<Scalar, Values>{values, order_.data(), values_.data(),
                                          transposed_values_.data()});
  }

  SparseRows<Scalar> by_rows() const {
    return {rows_, row_map_.data(), entries_.data(), values_.data(), count_};
  }
  SparseRows<Scalar> transposed() const {
    return {rows_, transposed_row_map_.data(), transposed_entries_.data(),
            transposed_values_.data(), count_};
  }

 private:
  template <class View>
  static std::vector<std::int32_t> integers(View const& view, char const* name) {
    static_assert(View::rank == 1 && std::is_integral_v<typename View::non_const_value_type>,
                  "SparseMatrix: row_map and entries are Views of integers of rank 1.");
    constexpr long most = std::numeric_limits<std::int32_t>::max();
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    if (long(host.extent(0)) > most)
      throw Error(std::string("SparseMatrix: expected at most 2147483647 numbers in ") + name +
                  ", got " + std::to_string(host.extent(0)) + ".");
    std::vector<std::int32_t> all(host.extent(0));
    for (std::size_t i = 0; i < all.size(); ++i) {
      long const value = long(host(i));
      if (value > most || value < 0)
        throw Error(std::string("SparseMatrix: expected numbers of 0 to 2147483647 in ") + name +
                    ", got " + std::to_string(value) + " at " + std::to_string(i) + ".");
      all[i] = std::int32_t(value);
    }
    return all;
  }
  template <class T> static Vector<T> room(Space const& exec, long size) {
    return allocate<Vector<T>>("phyllo: sparse matrix", size, "Release what else is there.", exec,
                               Kokkos::WithoutInitializing);
  }
  static Vector<std::int32_t> on_device(Space const& exec, std::vector<std::int32_t> const& from) {
    auto const to = room<std::int32_t>(exec, long(from.size()));
    using Host = Kokkos::View<std::int32_t const*, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(exec, to, Host(from.data(), from.size()));
    exec.fence("phyllo: sparse matrix");
    return to;
  }

  std::int32_t rows_ = 0, count_ = 0;
  Vector<std::int32_t> row_map_, entries_, transposed_row_map_, transposed_entries_, order_;
  Vector<Scalar> values_, transposed_values_;
};

}  // namespace phyllo::inline PHYLLO_ISA

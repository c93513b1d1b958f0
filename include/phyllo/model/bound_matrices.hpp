// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/sparse_matrix.hpp>
#include <phyllo/network/matrices.hpp>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The sparse matrices of a network, as they are bound to a model. Empty where it has none.
///
/// state    `rows()` stays where it is if the object is moved
template <class Net, class Scalar, class Space> class BoundMatrices {
 public:
  using All = Matrices<Net>;
  static constexpr int count = All::count;

  BoundMatrices() : matrix_(std::size_t(count)), rows_(2 * std::size_t(count)) {}

  template <class Tag> void bind(SparseMatrix<Scalar, Space> const& matrix) {
    constexpr int k = All::template number_of<Tag>;
    static_assert(k >= 0,
                  "bind_matrix: no layer of the network names this matrix. Use the tag of its "
                  "SparseProduct<Tag> or GraphConvolution<outputs, Tag>.");
    if constexpr (k >= 0) {
      matrix_[k] = matrix;
      rows_[2 * k] = matrix.by_rows();
      rows_[2 * k + 1] = matrix.transposed();
    }
  }

  /// For kernels: of matrix k at 2 k, of its transpose at 2 k + 1.
  SparseRows<Scalar> const* rows() const { return rows_.data(); }

  /// errors   run: a matrix is not bound, or a batch has no whole graphs -> Error
  void check(long batch, std::string const& who) const {
    if constexpr (count > 0) {
      for (int i = 0; i < All::program::size; ++i) {
        int const k = All::table.of_leaf[i];
        if (k < 0) continue;
        long const positions = All::program::nodes.node[i].input.positions();
        auto const& matrix = rows_[2 * std::size_t(k)];
        if (matrix.row_map == nullptr)
          throw Error(who + ": expected the matrix " + name_of(k) + ", which is not bound. Call " +
                      "bind_matrix<" + name_of(k) + ">(matrix) of the model before.");
        long const rows = batch * positions;
        if (matrix.rows == 0 ? rows != 0 : rows % matrix.rows != 0)
          throw Error(who + ": expected a batch of whole graphs, a multiple of the " +
                      std::to_string(matrix.rows) + " rows of the matrix " + name_of(k) + ", got " +
                      std::to_string(batch) + " samples of " + std::to_string(positions) +
                      " nodes. Bind the matrix of this batch by " +
                      "bind_matrix, or pass whole graphs; ModelOptions::batch holds at least one.");
      }
    }
  }

  /// Samples of whole graphs that a pass of at most `capacity` samples takes.
  ///
  /// errors   run: the graphs of all matrices together need more -> Error
  int most_samples(int capacity, long batch, std::string const& who) const {
    if constexpr (count > 0) {
      long together = 1;
      for (int i = 0; i < All::program::size; ++i) {
        int const k = All::table.of_leaf[i];
        if (k < 0 || rows_[2 * std::size_t(k)].rows == 0) continue;
        long const rows = rows_[2 * std::size_t(k)].rows;
        long const positions = All::program::nodes.node[i].input.positions();
        together = std::lcm(together, rows / std::gcd(rows, positions));
        if (together > capacity && batch > capacity)
          throw Error(who + ": expected ModelOptions::batch of at least " +
                      std::to_string(together) +
                      ", so that a pass has whole graphs of every matrix, got " +
                      std::to_string(capacity) + ".");
      }
      if (together > capacity) return capacity;
      return int(capacity / together * together);
    } else {
      return capacity;
    }
  }

 private:
  static std::string name_of(int k) { return All::names()[std::size_t(k)]; }

  std::vector<SparseMatrix<Scalar, Space>> matrix_;  // keep their memory
  std::vector<SparseRows<Scalar>> rows_;
};

}  // namespace phyllo::inline PHYLLO_ISA

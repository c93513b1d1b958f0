// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/core/sparse_matrix.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A sparse matrix times the nodes of a graph: y_i = sum over j of a_ij x_j, for each channel.
/// Nodes are the samples of a batch, or the positions of a sample, if all samples have the same
/// graph.
///
/// shape    (N, C) -> (N, C), N nodes · (N, C, S...) -> (N, C, S...), S... nodes
/// options  Tag: the name of the matrix, with which `bind_matrix<Tag>` of the model binds it
/// state    none in files: the matrix belongs to the caller, and is not trained
/// errors   run: no matrix is bound; N times S... is not a multiple of the rows of the matrix: a
///          batch is one or several graphs with the same matrix, or one with a block-diagonal
///          matrix -> Error. Under Reproducible the shards of a batch are batches: graphs are
///          samples there. No form inside kernels
/// numerics sums in Precision::accumulate, in the order of a row's entries; gradients by the
///          transpose, in rising order of rows
/// cost     2 C flop and one read of C numbers for each entry and graph; backward the same; no
///          atomics
/// source   Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks",
///          ICLR 2017, equation 2
template <class Tag = adjacency> struct SparseProduct {
  static constexpr char const* name = "sparse_product";
  static constexpr Role role = Role::sparse_product;
  using matrix = Tag;

  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "SparseProduct: expected numbers.");
  };
};

/// Graph convolution: y_i = W sum over j of a_ij x_j + b. A SparseProduct and a Linear at every
/// node.
///
/// shape    (N, C) -> (N, Out) · (N, C, S...) -> (N, Out, S...), nodes as in SparseProduct
/// options  Tag: as in SparseProduct · Bias<true>
/// state    weight (Out, C) · bias (Out)
/// errors   as SparseProduct and Linear
/// numerics as SparseProduct and Linear
/// cost     that of SparseProduct with C channels, and 2 N C Out flop. Where Out is much smaller
///          than C, Linear<Out, PerPosition, Bias<false>> in front of SparseProduct costs less
/// source   Kipf and Welling, ICLR 2017, equation 2
template <int Out, class Tag = adjacency, class... Options> struct GraphConvolution {};

}  // namespace phyllo::inline PHYLLO_ISA

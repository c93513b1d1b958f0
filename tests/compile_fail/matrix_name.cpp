// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: bind_matrix: no layer of the network names this matrix. Use the tag of its
// SparseProduct<Tag> or GraphConvolution<outputs, Tag>

#include <phyllo/layer/sparse_product.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct stiffness;
struct Net : Network<Input<4>, GraphConvolution<2>> {};

void wrong(Model<Net>& model, SparseMatrix<float> const& matrix) {
  model.bind_matrix<stiffness>(matrix);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/sparse_product.hpp>
#include <phyllo/network/lower.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A graph convolution as leaves. Both have the path of the whole layer: one of them has
/// parameters.
template <int Out, class Tag, class... Options>
struct Lower<GraphConvolution<Out, Tag, Options...>> {
  static constexpr bool numbered = true;
  using leaves = TypeList<SparseProduct<Tag>, Linear<Out, PerPosition, Options...>>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    current = graph.append(current);
    return graph.append(current);
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    names.insert(names.end(), 2, path);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

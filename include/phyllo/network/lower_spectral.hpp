// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/spectral_convolution.hpp>
#include <phyllo/network/lower.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// A spectral convolution as leaves: transforms from the last axis to the first one, the product,
/// and the transforms back in the reverse order, which take the length of their axis from the
/// convolution's input.
///
/// state    every leaf has the path of the whole layer: one of them has parameters
template <class C> struct LowerSpectral {
  static constexpr bool numbered = true;
  static constexpr int rank = C::rank;

  template <std::size_t... A> static auto leaves_of(std::index_sequence<A...>) {
    return TypeList<detail::FourierLayer<C, rank, rank - 1 - int(A), false>...,
                    detail::SpectralProductLayer<C>,
                    detail::FourierLayer<C, rank, int(A), true>...>{};
  }
  using leaves = decltype(leaves_of(std::make_index_sequence<rank>{}));

  template <class G> static constexpr int append_to(G& graph, int current) {
    int const input = current;
    for (int i = 0; i <= rank; ++i) current = graph.append(current);
    for (int i = 0; i < rank; ++i) current = graph.append(current, input);
    return current;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    names.insert(names.end(), std::size_t(leaves::size), path);
  }
};

template <int Outputs, class M>
struct Lower<SpectralConv1d<Outputs, M>> : LowerSpectral<SpectralConv1d<Outputs, M>> {};
template <int Outputs, class M>
struct Lower<SpectralConv2d<Outputs, M>> : LowerSpectral<SpectralConv2d<Outputs, M>> {};
template <int Outputs, class M>
struct Lower<SpectralConv3d<Outputs, M>> : LowerSpectral<SpectralConv3d<Outputs, M>> {};

}  // namespace phyllo::inline PHYLLO_ISA

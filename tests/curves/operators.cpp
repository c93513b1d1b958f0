// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training curves of a Fourier neural operator and of a graph network against PyTorch's.

#include <curves/curve.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
// Li et al., "Fourier Neural Operator for Parametric Partial Differential Equations", ICLR 2021.
template <int Width, class M> using Layer = Residual<Main<SpectralConv2d<Width, M>>, Shortcut<Conv2d<Width, KernelSize<1>>>>;
struct Fno : Network<Input<2, 8, 7>, Conv2d<6, KernelSize<1>>, Layer<6, Modes<3, 2>>, GELU, Layer<5, Modes<2, 4>>, GELU, Conv2d<1, KernelSize<1>>> {};
// Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017, on
// two features of six nodes.
struct Graph : Network<Input<2, 6>, GraphConvolution<7>, Tanh, GraphConvolution<5>, Tanh, Flatten, Linear<3>> {};
// clang-format on

// The nodes of a path, each with itself and its neighbours: entries of the matrix that is
// normalised by the square roots of their numbers.
struct OnPath : Single<Graph, CrossEntropy, Adam> {
  template <class M> void prepare(Space const& exec, M& model) const {
    constexpr int nodes = 6;
    auto const neighbours = [](int i) { return i == 0 || i == nodes - 1 ? 2.0 : 3.0; };
    Kokkos::View<int*, Kokkos::HostSpace> const row_map("row_map", nodes + 1);
    Kokkos::View<int*, Kokkos::HostSpace> const entries("entries", 3 * nodes - 2);
    Kokkos::View<double*, Kokkos::HostSpace> const values("values", 3 * nodes - 2);
    int count = 0;
    for (int i = 0; i < nodes; ++i) {
      for (int j = std::max(0, i - 1); j <= std::min(nodes - 1, i + 1); ++j, ++count) {
        entries(count) = j;
        values(count) = 1 / std::sqrt(neighbours(i) * neighbours(j));
      }
      row_map(i + 1) = count;
    }
    model.bind_matrix(SparseMatrix<typename M::accumulate, Space>(exec, row_map, entries, values));
  }
};

}  // namespace

TEST_CASE("curves: Fourier neural operator") {
  check_curve("fno", Single<Fno, MeanSquaredError, Adam>{{.rate = 5e-3}});
}

TEST_CASE("curves: graph network") { check_curve("graph", OnPath{{{.rate = 1e-2}}}); }

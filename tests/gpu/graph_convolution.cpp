// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a GPU compiler must take: products with sparse matrices, forward and backward, and the
// values of a matrix.

#include <phyllo/phyllo.hpp>

#include <rings.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

struct Graph : Network<Input<3>, GraphConvolution<20>, SiLU, SparseProduct<>, Linear<1>> {};

template <class P>
void run_graph(Kokkos::View<int*, Space> const& row_map, Kokkos::View<int*, Space> const& entries,
               Kokkos::View<double*, Space> const& values,
               Kokkos::View<float**, Space> const& fields) {
  Space const exec;
  SparseMatrix<typename P::accumulate, Space> matrix(exec, row_map, entries, values);
  Model<Graph, P> model(exec, {.batch = 4096});
  model.bind_matrix(matrix);
  Kokkos::View<float**, Space> const y("y", fields.extent(0), 1);
  model.forward(exec, fields, y);
  model.backward(exec, y);
  matrix.set_values(exec, values);
}

void gpu_graph(Kokkos::View<int*, Space> const& row_map, Kokkos::View<int*, Space> const& entries,
               Kokkos::View<double*, Space> const& values,
               Kokkos::View<float**, Space> const& fields) {
  run_graph<Full<float>>(row_map, entries, values, fields);
  PHYLLO_IN_VERIFY(run_graph<Full<double>>(row_map, entries, values, fields);
                   run_graph<Mixed<bf16, float>>(row_map, entries, values, fields);)
}

}  // namespace phyllo_gpu

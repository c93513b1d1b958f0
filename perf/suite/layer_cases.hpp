// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cases.hpp"

namespace perf {

/// (N, C), or (N, spatial..., C) as the library stores images.
template <class T, Shape S> struct BatchView {
  using Data = std::conditional_t<
      S.rank == 0, T**,
      std::conditional_t<S.rank == 1, T***, std::conditional_t<S.rank == 2, T****, T*****>>>;
  using type = Kokkos::View<Data, Kokkos::LayoutRight, typename Space::memory_space>;
  static type make(char const* label, long batch) {
    auto const n = std::size_t(batch), c = std::size_t(S.channels);
    auto const extent = [](int d) { return std::size_t(S.spatial[3 - S.rank + d]); };
    if constexpr (S.rank == 0)
      return {label, n, c};
    else if constexpr (S.rank == 1)
      return {label, n, extent(0), c};
    else if constexpr (S.rank == 2)
      return {label, n, extent(0), extent(1), c};
    else
      return {label, n, extent(0), extent(1), extent(2), c};
  }
};

/// Says to Phyllo how a BatchView is stored.
template <class View> auto bound(View const& view) {
  if constexpr (View::rank > 2)
    return channels_last(view);
  else
    return view;
}

/// A model of one layer with what it reads and writes. Numbers are in [-1, 1), as storage type From
/// holds them; of integers, those below Indices.
template <class Net, class P, class Exec, class From, int Indices> struct LayerPass {
  static constexpr bool integers = Indices > 0;
  using S = typename P::storage;
  using X = BatchView<std::conditional_t<integers, int, S>, Net::input>;
  using Y = BatchView<S, Net::output>;
  typename Exec::space exec;
  Model<Net, P, Exec> model;
  typename X::type x;
  typename Y::type y, d_y;
  typename X::type d_x;

  explicit LayerPass(long n)
      : model(exec, {.batch = int(n), .seed = 1}),
        x(X::make("x", n)),
        y(Y::make("y", n)),
        d_y(Y::make("d_y", n)),
        d_x(X::make("d_x", integers ? 0 : n)) {
    fill(x, 2);
    fill(d_y, 3);
    if constexpr (Matrices<Net>::count > 0) model.bind_matrix(matrix(int(n)));
  }
  void infer() {
    model.infer(exec, bound(x), bound(y));
    exec.fence("perf");
  }
  void train() {
    model.forward(exec, bound(x), bound(y));
    if constexpr (integers)
      model.backward(exec, bound(d_y));
    else
      model.backward(exec, bound(d_y), bound(d_x));
    exec.fence("perf");
  }

 private:
  // The samples as nodes of a mesh of triangles with rows of 64: each and its six neighbours.
  auto matrix(int nodes) const {
    using A = typename P::accumulate;
    constexpr int distance[] = {-64, -63, -1, 0, 1, 63, 64}, each = 7;
    Kokkos::View<int*, Kokkos::HostSpace> row_map("row_map", std::size_t(nodes) + 1),
        entries("entries", std::size_t(each * nodes));
    Kokkos::View<A*, Kokkos::HostSpace> values("values", entries.size());
    for (int r = 0; r < nodes; ++r) {
      row_map(r + 1) = each * (r + 1);
      for (int k = 0; k < each; ++k) {
        entries(each * r + k) = (r + distance[k] + 64 * nodes) % nodes;
        values(each * r + k) = A(1) / A(each);
      }
    }
    return SparseMatrix<A, typename Exec::space>(exec, row_map, entries, values);
  }
  template <class V> static void fill(V const& view, unsigned seed) {
    for (std::size_t i = 0; i < view.size(); ++i) {
      float const u = random_uniform(seed, 0, 0, i, 0);
      if constexpr (std::is_integral_v<typename V::value_type>)
        view.data()[i] = int(u * float(Indices));
      else
        view.data()[i] = typename V::value_type(float(From(2 * u - 1)));
    }
  }
};

/// Inference of one layer, and its forward and backward pass with the gradients of parameters and
/// inputs, each with the copies between the Views and the model.
///
/// cost     floor: operations, or bytes of inputs and outputs, in training of their gradients too;
///          without those of a sparse matrix
template <class P, class Net, int Indices = 0>
void add_layer(Ceilings const& c, std::vector<Case>& cases, char const* name, long batch) {
  using S = typename P::storage;
  using Fast = LayerPass<Net, P, Execution<Space>, S, Indices>;
  using Slow = LayerPass<Net, Full<double>, Reference, S, Indices>;
  auto const pass = std::make_shared<Fast>(batch);
  long const checked = std::min(batch, 4l);
  Fast few(checked);
  Slow truth(checked);
  copy_parameters(few.model.parameters(), truth.model.parameters());
  Case k;
  k.name = name;
  k.network = type_name<Net>();
  k.batch = batch;
  double const inputs = Net::input.size() * double(Indices > 0 ? sizeof(int) : sizeof(S));
  double const outputs = Net::output.size() * double(sizeof(S));
  few.infer();
  truth.infer();
  k.relative_error = relative_error(truth.y, few.y);
  k.flops_per_sample = double(Net::flops);
  k.bytes_per_sample = inputs + outputs;
  set_floor(k, c.template peak<P>(), c.memory());
  k.call = [pass] { pass->infer(); };
  cases.push_back(k);
  few.train();
  truth.train();
  k.name += " training";
  k.phase = "training";
  if constexpr (Indices == 0)
    k.relative_error = relative_error(truth.d_x, few.d_x);
  else
    k.relative_error = relative_error(truth.y, few.y);
  k.flops_per_sample = training_flops<Net>();
  k.bytes_per_sample = 2 * (inputs + outputs);
  set_floor(k, c.template peak<P>(), c.memory());
  k.call = [pass] { pass->train(); };
  cases.push_back(std::move(k));
}

}  // namespace perf

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pointwise: the layer lacks a formula
// position: UnfinishedPointwise<Swish>
// position: Layer<1>

#include <phyllo/phyllo.hpp>

struct Swish : phyllo::Pointwise {
  static constexpr char const* name = "swish";
  template <class T> KOKKOS_FUNCTION static T value(T x) { return x / (T(1) + Kokkos::exp(-x)); }
  template <class T> KOKKOS_FUNCTION T derivative(T) const { return T(1); }
};

struct Net : phyllo::Network<phyllo::Input<4>, Swish, phyllo::Linear<2>> {};

void train(Kokkos::View<float**> x, Kokkos::View<float**> y) {
  phyllo::Trainer<Net, phyllo::MeanSquaredError, phyllo::Adam> trainer(
      Kokkos::DefaultExecutionSpace{}, {});
  trainer.step(x, y);
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Map: the layer lacks a formula
// position: UnfinishedMap<ProductSum>
// position: Layer<2>

#include <phyllo/phyllo.hpp>

struct ProductSum : phyllo::Map {
  static constexpr char const* name = "product_sum";
  static constexpr phyllo::MapOperand operands[] = {{.source = 0}, {.source = 1}};
  static constexpr phyllo::MapParameter parameters[] = {{.name = "weight"}};
  template <class T> KOKKOS_FUNCTION static T value(T a, T b, T weight) { return a * b * weight; }
  template <class T> KOKKOS_FUNCTION static phyllo::Partials<T, 2> derivatives(T a, T b, T weight) {
    return {b * weight, a * weight};
  }
};

struct first;
struct Net : phyllo::Network<phyllo::Input<4>, phyllo::Save<first>, phyllo::Linear<4>,
                             phyllo::Combine<ProductSum, first>> {};

void train(Kokkos::View<float**> x, Kokkos::View<float**> y) {
  phyllo::Trainer<Net, phyllo::MeanSquaredError, phyllo::Adam> trainer(
      Kokkos::DefaultExecutionSpace{}, {});
  trainer.step(x, y);
}

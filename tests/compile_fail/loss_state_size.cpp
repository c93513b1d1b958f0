// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: A loss has at most 16 bytes of trivially copyable members

#include <phyllo/layer/linear.hpp>
#include <phyllo/train/trainer.hpp>

using namespace phyllo;
struct Net : Network<Input<3>, Linear<5>> {};
struct Weighted {
  static constexpr char const* name = "weighted";
  static constexpr bool classes = false;
  float weights[5] = {};
  template <class Row> KOKKOS_FUNCTION auto operator()(Row const& y) const {
    auto const weighted = [&](int c) { return weights[c] * (y(c) - y.target(c)); };
    y.gradient(weighted);
    return y.sum(weighted);
  }
};

void train(Kokkos::View<float**> x, Kokkos::View<float**> t) {
  Trainer<Net, Weighted, Sgd> trainer(Kokkos::DefaultExecutionSpace{}, Sgd{});
  trainer.step(x, t);
}

int main() {}

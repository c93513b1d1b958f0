// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

namespace phyllo_gpu {

using namespace phyllo;
using Space = Kokkos::DefaultExecutionSpace;

// The networks of workloads mlp-infer and mlp-infer-64, and wide ones, in stages and not.
struct Mlp : Network<Input<16>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>,
                     ReLU, Linear<16>> {};
struct Mlp64
    : Network<Input<64>, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>, ReLU, Linear<64>> {};
struct Wide : Network<Input<128>, Linear<128>, ReLU, Linear<128>, ReLU, Linear<128>, ReLU,
                      Linear<128>, ReLU, Linear<128>, ReLU, Linear<128>> {};
struct Odd : Network<Input<5>, Linear<100>, GELU, Linear<33>, Sigmoid, Linear<3>> {};

template <class Net, class P> void infer(Space const& exec) {
  Model<Net, P> const model(exec, {.batch = 1024});
  Kokkos::View<typename P::storage**, Space> x("x", 1024, Net::input.size());
  Kokkos::View<typename P::storage**, Space> y("y", 1024, Net::output.size());
  model.infer(exec, x, y);
}

}  // namespace phyllo_gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Activations and other layers of one number each, one by one, on a million numbers.

#include "layer_cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using namespace perf;
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_layer<P, Network<Input<1024>, ReLU>>(c, cases, "ReLU", 1024);
    add_layer<P, Network<Input<1024>, Tanh>>(c, cases, "Tanh", 1024);
    add_layer<P, Network<Input<1024>, Sigmoid>>(c, cases, "Sigmoid", 1024);
    add_layer<P, Network<Input<1024>, GELU>>(c, cases, "GELU", 1024);
    add_layer<P, Network<Input<1024>, TanhGELU>>(c, cases, "TanhGELU", 1024);
    add_layer<P, Network<Input<1024>, SiLU>>(c, cases, "SiLU", 1024);
    add_layer<P, Network<Input<1024>, Mish>>(c, cases, "Mish", 1024);
    add_layer<P, Network<Input<1024>, ELU<>>>(c, cases, "ELU", 1024);
    add_layer<P, Network<Input<1024>, SELU>>(c, cases, "SELU", 1024);
    add_layer<P, Network<Input<1024>, CELU<>>>(c, cases, "CELU", 1024);
    add_layer<P, Network<Input<1024>, LeakyReLU<>>>(c, cases, "LeakyReLU", 1024);
    add_layer<P, Network<Input<1024>, Softplus<>>>(c, cases, "Softplus", 1024);
    add_layer<P, Network<Input<1024>, Softsign>>(c, cases, "Softsign", 1024);
    add_layer<P, Network<Input<1024>, HardSwish>>(c, cases, "HardSwish", 1024);
    add_layer<P, Network<Input<1024>, HardSigmoid>>(c, cases, "HardSigmoid", 1024);
    add_layer<P, Network<Input<1024>, HardTanh<>>>(c, cases, "HardTanh", 1024);
    add_layer<P, Network<Input<1024>, ReLU6>>(c, cases, "ReLU6", 1024);
    add_layer<P, Network<Input<1024>, LogSigmoid>>(c, cases, "LogSigmoid", 1024);
    add_layer<P, Network<Input<1024>, PReLU<>>>(c, cases, "PReLU", 1024);
    add_layer<P, Network<Input<1024>, Dropout<0.5>>>(c, cases, "Dropout", 1024);
    return serve("layers-pointwise", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

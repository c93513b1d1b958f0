// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers that move numbers, and gates, one by one.

#include "layer_cases.hpp"

template <class P> struct Workload {
  static int run(std::string const& dtype) {
    using namespace perf;
    auto const c = measure_ceilings();
    std::vector<Case> cases;
    add_layer<P, Network<Input<64, 28, 28>, Pad<Padding<1>>>>(c, cases, "Pad", 32);
    add_layer<P, Network<Input<64, 28, 28>, Pad<ReflectPadding<1>>>>(c, cases, "reflecting Pad",
                                                                     32);
    add_layer<P, Network<Input<64, 28, 28>, Crop<2>>>(c, cases, "Crop", 32);
    add_layer<P, Network<Input<64, 28, 28>, PixelShuffle<2>>>(c, cases, "PixelShuffle", 32);
    add_layer<P, Network<Input<16, 56, 56>, PixelUnshuffle<2>>>(c, cases, "PixelUnshuffle", 32);
    add_layer<P, Network<Input<32, 28, 28>, Upsample<2>>>(c, cases, "Upsample", 16);
    add_layer<P, Network<Input<32, 28, 28>, Upsample<2, LinearInterpolation>>>(
        c, cases, "bilinear Upsample", 16);
    add_layer<P, Network<Input<32, 14, 14>, Upsample<2, CubicInterpolation>>>(
        c, cases, "bicubic Upsample", 16);
    add_layer<P, Network<Input<64, 28, 28>, GLU>>(c, cases, "GLU", 32);
    add_layer<P, Network<Input<64, 28, 28>, ChannelShuffle<8>>>(c, cases, "ChannelShuffle", 32);
    return serve("layers-moves", "selected", dtype, c, cases);
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  return perf::with_precision<Workload>(argc, argv);
}

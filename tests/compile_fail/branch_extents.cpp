// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Concat: Branch and ConcatFrom require values of the same spatial extents
// position: Concat::Refused<phyllo::Layer<3>
// position: Given<6, 2, 2>
// position: Expected<6, 4, 4>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
template <int Size> using Patch = Conv2d<6, KernelSize<Size>, Stride<Size>>;
struct Wrong : Network<Input<1, 4, 4>, Branch<Path<Patch<1>>, Path<Patch<2>>>, Patch<5>> {};

int main() { return Wrong::parameter_count; }

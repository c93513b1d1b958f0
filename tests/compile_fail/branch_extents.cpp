// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Concat: the end of a Branch or ConcatFrom needs values of the same spatial extents
// position: Concat::Refused<phyllo::Layer<4>
// position: Given<6, 4, 4>
// position: Expected<2, 8, 8>

#include <phyllo/layer/conv2d.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<
    Input<1, 8, 8>, Branch<Path<Conv2d<2, KernelSize<1>>>, Path<>,
                           Path<Conv2d<6, KernelSize<2>, Stride<2>>>>,
    Conv2d<6, KernelSize<9>>> {};

int main() { return Wrong::parameter_count; }

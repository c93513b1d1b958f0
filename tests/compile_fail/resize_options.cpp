// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Resize: the first option is OutputSize
// position: Resize<phyllo::OutputSize<0
// position: Layer<1>

#include <phyllo/layer/resize.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8>, Resize<OutputSize<0>>> {};

int main() { return Wrong::parameter_count; }

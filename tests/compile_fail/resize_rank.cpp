// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Resize: expected as many spatial extents as OutputSize has
// position: Resize<phyllo::OutputSize<4
// position: Layer<1>

#include <phyllo/layer/resize.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, Resize<OutputSize<4>>> {};

int main() { return Wrong::parameter_count; }

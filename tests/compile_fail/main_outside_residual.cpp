// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: this part is neither a layer nor a block
// position: NotALayer<phyllo::Main<phyllo::Linear<4>
// position: Layer<1>
// position: Given<4>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, Main<Linear<4>>> {};

int main() { return Wrong::parameter_count; }

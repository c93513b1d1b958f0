// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LayerNorm: the options are Affine<...>, Bias<...> and Epsilon<...>, each once
// position: LayerNorm<phyllo::Padding<2> ?>
// position: Layer<1>

#include <phyllo/layer/layer_norm.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<5>, LayerNorm<Padding<2>>> {};

int main() { return Wrong::parameter_count; }

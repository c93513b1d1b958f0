// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LayerNorm: the options are Affine<...> and Epsilon<...>, each once, and Epsilon is
// positive position: LayerNorm<phyllo::Bias<false> ?> position: Layer<1>

#include <phyllo/layer/layer_norm.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<5>, LayerNorm<Bias<false>>> {};

int main() { return Wrong::parameter_count; }

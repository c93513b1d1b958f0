// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: RMSNorm: the options are Affine<...> and Epsilon<...>, each once, and Epsilon is positive
// position: Layer<1>

#include <phyllo/layer/rms_norm.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<5>, RMSNorm<Epsilon<1e-3>, Epsilon<1e-5>>> {};

int main() { return Wrong::parameter_count; }

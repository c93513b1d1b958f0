// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: PReLU: the options are PerChannel<...> and InitialValue<...>, each once
// position: Layer<1>

#include <phyllo/layer/prelu.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<5>, PReLU<Bias<false>>> {};

int main() { return Wrong::parameter_count; }

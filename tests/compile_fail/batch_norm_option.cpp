// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BatchNorm: the options are Statistics::Local or Statistics::Global, Affine
// position: BatchNorm<int>
// position: Layer<1>
// position: Given<10>

#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<10>, BatchNorm<int>> {};

int main() { return Wrong::parameter_count; }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: computes with numbers, and its input are the integers of an IntegerInput. Put
// Embedding<entries, channels> position: Linear<3> position: Layer<1>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<IntegerInput<4>, Linear<3>> {};

int main() { return Wrong::parameter_count; }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Dropout: the probability must be in .0, 1.
// position: Dropout<-0.5
// position: Layer<1>

#include <phyllo/layer/dropout.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<10>, Dropout<-0.5>> {};

int main() { return Wrong::parameter_count; }

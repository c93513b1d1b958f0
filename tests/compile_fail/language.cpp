// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flags: -std=c++17
// expect: Phyllo requires C\+\+20\. Compile with -std=c\+\+20 or newer

#include <phyllo/phyllo.hpp>

struct Mlp : phyllo::Network<phyllo::Input<4>, phyllo::Linear<2>> {};

int main() { return Mlp::parameter_count; }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: RNN, LSTM, GRU: expected a sequence, channels and one extent
// position: Layer<1>
// position: Given<4, 10, 10>

#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4, 10, 10>, RNN<8>> {};

int main() { return Wrong::parameter_count; }

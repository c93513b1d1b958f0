// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: RNN, LSTM, GRU: the options are Layers<n>, Bidirectional
// position: Layer<2>

#include <phyllo/network/network.hpp>

using namespace phyllo;
struct h;
struct x;
struct Wrong : Network<NamedInput<h, 8>, NamedInput<x, 4, 10>, LSTM<8, InitialState<h>>> {};

int main() { return Wrong::parameter_count; }

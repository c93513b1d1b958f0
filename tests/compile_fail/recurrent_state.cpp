// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: RNN, LSTM, GRU: each value of InitialState must have hidden x layers x directions
// channels position: GRU<8, Bidirectional, InitialState<h>> position: Layer<3> position: Given<24,
// 10>

#include <phyllo/network/network.hpp>

using namespace phyllo;
struct h;
struct x;
struct Wrong
    : Network<NamedInput<h, 8>, NamedInput<x, 4, 10>, GRU<8, Bidirectional, InitialState<h>>> {};

int main() { return Wrong::parameter_count; }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: an output is the integers of an IntegerInput, which the caller has. Put
// Embedding<entries, channels> between them position: NamedIntegerInput<words,
// 4>|NamedIntegerInput<Wrong::words, 4>|NamedIntegerInput<.*words, 4> position: Layer<0>

#include <phyllo/layer/embedding.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct words;
struct same;
struct vectors;
struct Wrong
    : Network<NamedIntegerInput<words, 4>, Output<same>, Embedding<10, 3>, Output<vectors>> {};

int main() { return Wrong::parameter_count; }

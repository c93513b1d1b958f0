// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Wire<Narrow, T>: Narrow must be bf16 or fp16

#include "one_rank.hpp"

#include <phyllo/comm/wire.hpp>

using namespace phyllo;

int main() { return int(sizeof(Wire<double, OneRank>)); }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Sharded<Inner>: gradients cannot be sent in 16 bits here. Use Wire with AllReduce

#include "one_rank.hpp"

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/sharded.hpp>
#include <phyllo/comm/wire.hpp>

using namespace phyllo;

int main() { return int(sizeof(Sharded<AllReduce<Wire<bf16, OneRank>>>)); }

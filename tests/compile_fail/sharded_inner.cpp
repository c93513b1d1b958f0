// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Sharded<Inner>: Inner must sum all gradients in the step that computes them

#include "one_rank.hpp"

#include <phyllo/comm/local_sgd.hpp>
#include <phyllo/comm/sharded.hpp>

using namespace phyllo;

int main() { return int(sizeof(Sharded<LocalSgd<4, OneRank>>)); }

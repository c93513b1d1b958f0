// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Groups<Count, Inner, Outer>: Inner must sum all gradients in the step that computes them

#include "one_rank.hpp"

#include <phyllo/comm/groups.hpp>
#include <phyllo/comm/local_sgd.hpp>

using namespace phyllo;

int main() { return int(sizeof(Groups<2, LocalSgd<4, OneRank>, LocalSgd<4, OneRank>>)); }

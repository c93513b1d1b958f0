// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Reproducible<Shards>: Shards must be 1 or more

#include <phyllo/policy/determinism.hpp>

using namespace phyllo;

int main() { return Reproducible<0>::shards; }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Reproducible<Shards>: Shards must be at most 256

#include <phyllo/policy/determinism.hpp>

using namespace phyllo;

int main() { return Reproducible<257>::shards; }

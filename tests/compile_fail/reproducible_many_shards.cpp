// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Reproducible<Shards>: a batch is cut into at most 256 pieces

#include <phyllo/policy/determinism.hpp>

using namespace phyllo;

int main() { return Reproducible<257>::shards; }

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace perf {

/// What a machine can do at most of one thing.
struct Ceiling {
  double rate = 0;  // a second
  std::string name;
};

}  // namespace perf

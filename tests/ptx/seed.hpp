// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <random>

namespace ptx {

/// What decides the order of what has none, from PHYLLO_PTX_SEED.
inline std::mt19937& drawn() {
  static std::mt19937 numbers(
      std::getenv("PHYLLO_PTX_SEED") ? unsigned(std::atoi(std::getenv("PHYLLO_PTX_SEED"))) : 1u);
  return numbers;
}

}  // namespace ptx

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <charconv>
#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

// For sentences: the shortest text of x, no two numbers alike.
inline std::string number_text(double x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

}  // namespace phyllo::inline PHYLLO_ISA::detail

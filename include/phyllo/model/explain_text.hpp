// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

#include <cmath>
#include <cstdio>
#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

inline std::string shape_text(Shape const& s) {
  std::string text;
  for (int i = 0; i <= s.rank; ++i) text += (i > 0 ? "x" : "") + std::to_string(s.extent(i));
  return text;
}

// 61706 -> "61,706"
inline std::string grouped(long number) {
  std::string text = std::to_string(number);
  for (int at = int(text.size()) - 3; at > 0; at -= 3) text.insert(std::size_t(at), ",");
  return text;
}

template <class... Arguments> std::string line(char const* format, Arguments const&... arguments) {
  char text[512];
  std::snprintf(text, sizeof(text), format, arguments...);
  return text;
}

// 66048 -> "64.5 KiB"
inline std::string kibibytes(long bytes) { return line("%.4g KiB", double(bytes) / 1024); }

inline std::string microseconds(double seconds) {
  double const number = seconds * 1e6;
  return number < 1000 ? line("%.4g", number) : grouped(std::lround(number));
}

}  // namespace phyllo::inline PHYLLO_ISA::detail

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// Text from a file as it may stand in a message: short, in quotes, nothing but printable ASCII, so
// that a hostile file cannot write control sequences to a terminal.
inline std::string in_quotes(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::size_t longest = 80;
  std::string result = "\"";
  for (char const character : text.substr(0, longest)) {
    auto const value = static_cast<unsigned char>(character);
    if (value < 0x20 || value > 0x7e) {
      result += "\\x";
      result += digits[value / 16];
      result += digits[value % 16];
    } else {
      result += character;
    }
  }
  result += text.size() > longest ? "...\"" : "\"";
  return result;
}

// A path as it may stand in a message: whole, and as the caller gave it.
inline std::string quoted_path(std::string_view path) { return "\"" + std::string(path) + "\""; }

// What the operating system says about an error number, as the part of a sentence.
inline std::string system_message(int error) { return std::generic_category().message(error); }

// The one sentence of every refusal of a file: who, what was expected, what was got, the remedy.
[[noreturn]] inline void refuse_file(std::string_view source, std::string_view expected,
                                     std::string_view got, std::string_view remedy) {
  throw Error(std::string(source) + ": expected " + std::string(expected) + ", got " +
              std::string(got) + "; " + std::string(remedy) + ".");
}

inline constexpr std::string_view damaged_file_remedy =
    "the file is damaged or not a safetensors file, so obtain or write it again";

}  // namespace phyllo::inline PHYLLO_ISA::detail

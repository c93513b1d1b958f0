// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <string>
#include <string_view>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class T> constexpr std::string_view spelled() {
#if defined(__clang__) || defined(__GNUC__)
  return __PRETTY_FUNCTION__;
#else
  return "T = unknown";
#endif
}

}  // namespace detail

/// The type as written in source, without the library's namespace: "Conv2d<6, KernelSize<5>>".
///
/// numerics host only; allocates
template <class T> std::string type_name() {
  std::string_view text = detail::spelled<T>();
  auto const start = text.find("T = ") + 4;
  text = text.substr(start, text.find_first_of(";]", start) - start);
  std::string name(text);
  for (std::string_view prefix : {"phyllo::" PHYLLO_TEXT(PHYLLO_ISA) "::", "phyllo::",
                                  "{anonymous}::", "(anonymous namespace)::"})
    for (auto at = name.find(prefix); at != std::string::npos; at = name.find(prefix))
      name.erase(at, prefix.size());
  // nvcc gives each file's unnamed namespace a name of its own.
  for (auto at = name.find("_GLOBAL__N_"); at != std::string::npos; at = name.find("_GLOBAL__N_"))
    name.erase(at, name.find("::", at) + 2 - at);
  // Compilers differ in the blank between two closing brackets.
  for (auto at = name.find("> >"); at != std::string::npos; at = name.find("> >"))
    name.erase(at + 1, 1);
  return name;
}

}  // namespace phyllo::inline PHYLLO_ISA

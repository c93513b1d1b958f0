// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstddef>
#include <string_view>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Outer, class... Inner> struct PolicyName {
  static constexpr std::size_t length = Outer::title.size() +
                                        (std::string_view(Inner::name).size() + ... + 0) +
                                        2 * sizeof...(Inner) + 1;
  char text[length] = {};

  constexpr PolicyName() {
    std::size_t at = 0;
    auto const append = [&](std::string_view part) {
      for (char const c : part) text[at++] = c;
    };
    append(Outer::title);
    std::string_view separator = "<";
    ((append(separator), append(Inner::name), separator = ", "), ...);
    append(">");
  }
};

}  // namespace detail

/// "AllReduce<Mpi>" as a constant, from a policy's title and the names of what it is made of.
template <class Outer, class... Inner>
inline constexpr detail::PolicyName<Outer, Inner...> policy_name{};

}  // namespace phyllo::inline PHYLLO_ISA

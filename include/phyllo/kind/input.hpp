// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The caller's data: no step computes it.
template <> struct Kind<Role::input> {
  static constexpr KindFacts facts{.is_given = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    if constexpr (requires { L::type; }) n.type = L::type;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The parts, Count times in sequence, each time with parameters of their own.
///
/// shape    that of the parts
/// errors   compile: a count below one
/// source   none
template <int Count, class... Parts> struct Repeat : detail::NoLayer {
  // Read only where a wrong count made it stay in the list.
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "Repeat: the count must be positive.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

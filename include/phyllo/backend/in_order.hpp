// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a launch has run when its call returns, so that the caller may do work in between
/// itself.
template <class Space> inline constexpr bool in_order = false;

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Of these headers; CMake's project version is read from this line.
inline constexpr char const* version = "0.1.0";

}  // namespace phyllo::inline PHYLLO_ISA

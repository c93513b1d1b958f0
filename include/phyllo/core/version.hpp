// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

// The version of these headers. CMake reads the project's version from these three lines.
#define PHYLLO_VERSION_MAJOR 0
#define PHYLLO_VERSION_MINOR 1
#define PHYLLO_VERSION_PATCH 0

// The version as one number, for the preprocessor: 100 is 0.1.0, 10203 is 1.2.3.
#define PHYLLO_VERSION \
  (PHYLLO_VERSION_MAJOR * 10000 + PHYLLO_VERSION_MINOR * 100 + PHYLLO_VERSION_PATCH)

namespace phyllo::inline PHYLLO_ISA {

/// The version of these headers, "major.minor.patch".
inline constexpr char const* version = PHYLLO_TEXT(PHYLLO_VERSION_MAJOR) "." PHYLLO_TEXT(
    PHYLLO_VERSION_MINOR) "." PHYLLO_TEXT(PHYLLO_VERSION_PATCH);

}  // namespace phyllo::inline PHYLLO_ISA

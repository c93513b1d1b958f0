// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Four numbers side by side, which a lane reads or writes in one access.
template <class S> struct alignas(4 * sizeof(S)) Pack4 {
  S value[4];
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu

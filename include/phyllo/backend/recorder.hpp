// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What records the launches of an execution space, to launch them again as one graph; void where
/// its runtime has no such thing.
template <class Space> struct Recorder {
  using type = void;
};

}  // namespace phyllo::inline PHYLLO_ISA

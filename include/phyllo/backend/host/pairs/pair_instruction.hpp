// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/pairs/amx_pairs.hpp>
#include <phyllo/backend/host/pairs/dot_pairs.hpp>

#if defined(PHYLLO_HAS_PAIRS)

namespace phyllo::inline PHYLLO_ISA::host {

/// The instruction that multiplies pairs of bfloat16. A processor with matrix registers that the
/// system does not permit multiplies floats instead: there they are faster than pairs in vector
/// registers.
#if defined(PHYLLO_HAS_AMX)
using PairInstruction = AmxPairs;
#else
using PairInstruction = DotPairs;
#endif

}  // namespace phyllo::inline PHYLLO_ISA::host

#endif

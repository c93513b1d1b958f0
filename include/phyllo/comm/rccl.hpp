// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/nccl.hpp>

#if defined(PHYLLO_HAS_NCCL)

namespace phyllo {

/// AMD's library has the functions of NVIDIA's, and the same transport serves both.
using Rccl = Nccl;

}  // namespace phyllo

#endif

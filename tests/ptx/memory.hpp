// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include "race.hpp"

namespace ptx {

struct Warp;

/// Where an access goes on this machine, after all checks; nullptr where it must not be. `value` is
/// what a write is about to write.
std::byte* place(Warp& warp, Instruction const& instruction, int lane, Bits at, int bytes,
                 Access access, void const* value = nullptr);

}  // namespace ptx

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace ptx {

struct Warp;
struct Instruction;

/// Ends the process with a sentence.
[[noreturn]] void stop(std::string const& sentence);

/// Says what is wrong, and the process fails at its end. An instruction complains once, a kernel
/// three times.
void complain(Warp const& warp, Instruction const& instruction, int lane, std::string const& what);

/// The same outside of kernels.
void complain(std::string const& what);

/// A kernel's name as its author wrote it.
std::string readable(std::string const& name);

}  // namespace ptx

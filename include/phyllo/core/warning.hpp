// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <atomic>
#include <cstdio>
#include <string>

namespace phyllo {

/// A function that receives warnings: one sentence or more, without a prefix and without a newline.
using WarningSink = void (*)(char const* sentence);

// One per process, hence outside the namespace of the instruction set. Null is the default sink.
inline std::atomic<WarningSink> process_warning_sink{nullptr};

}  // namespace phyllo

namespace phyllo::inline PHYLLO_ISA {

/// Writes a warning to the standard error stream as one line that begins with "phyllo: ". The
/// default sink.
inline void write_warning(char const* sentence) { std::fprintf(stderr, "phyllo: %s\n", sentence); }

/// Sends all warnings of this process to `sink`, for example to the log of the host application;
/// null restores the default, `write_warning`. Returns the sink that was in use before.
///
/// Phyllo writes nowhere else. A warning means that results are right and that something is slower
/// than it could be. Everything else is an exception.
///
/// state    one sink per process and not per instruction set; any thread may set it at any time
/// errors   none. Phyllo calls the sink from the thread that called Phyllo, several threads may
///          call it at once, and a lock of Phyllo may be held: a sink must not throw, and must not
///          call Phyllo
inline WarningSink set_warning_sink(WarningSink sink) {
  WarningSink const before = process_warning_sink.exchange(sink);
  return before ? before : &write_warning;
}

/// Passes a warning to the sink.
inline void warn(std::string const& sentence) {
  WarningSink const sink = process_warning_sink.load();
  (sink ? sink : &write_warning)(sentence.c_str());
}

}  // namespace phyllo::inline PHYLLO_ISA

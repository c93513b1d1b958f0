// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// For programs that ask for more memory than a machine can address: AddressSanitizer then answers
// as an allocator does, instead of ending the program. Nothing but a sanitizer calls this.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace phyllo::test {

// All addresses that a program has: no machine gives as much, not even on the promise to find it
// later.
inline constexpr long bytes_of_no_machine = 1L << 47;

}  // namespace phyllo::test

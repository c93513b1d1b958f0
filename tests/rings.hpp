// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Template arguments that the gate leaves to ring verify and to devices, which define
// PHYLLO_ALL_CASES: types of storage that instantiate the same templates once more. In a list
// behind another argument, with their comma:
//   TEST_CASE_TEMPLATE("...", P, Full<float>, Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<double>))
#if defined(PHYLLO_ALL_CASES)
#define PHYLLO_IN_VERIFY(...) __VA_ARGS__
#else
#define PHYLLO_IN_VERIFY(...)
#endif

namespace phyllo::test {

// The same for `if constexpr` in a template, which leaves out what is not instantiated, and for
// work at run time.
#if defined(PHYLLO_ALL_CASES)
inline constexpr bool all_cases = true;
#else
inline constexpr bool all_cases = false;
#endif

}  // namespace phyllo::test

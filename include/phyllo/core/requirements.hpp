// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What the compiler must provide. core/macros.hpp, which every header includes, includes it
// before its own first declaration, so that a wrong option is one sentence and not a thousand
// errors. GCC and Clang continue after #error; a missing file ends GCC, and a warning raised to
// "fatal" ends Clang.

#if defined(_MSVC_LANG)
#define PHYLLO_LANGUAGE _MSVC_LANG
#else
#define PHYLLO_LANGUAGE __cplusplus
#endif

#if PHYLLO_LANGUAGE < 202002L
#if defined(__clang__)
#pragma clang diagnostic fatal "-W#warnings"
#warning Phyllo requires C++20. Compile with -std=c++20 or newer
#elif defined(__GNUC__) && !defined(__EDG__)
#include <Phyllo requires C++20. Compile with -std=c++20 or newer>
#else
#error Phyllo requires C++20. Compile with -std=c++20 or newer
#endif
#endif

// A GPU compiler's device pass has no exceptions; its host pass is checked.
#if !defined(__cpp_exceptions) && !PHYLLO_ON_DEVICE
#if defined(__clang__)
#pragma clang diagnostic fatal "-W#warnings"
#warning Phyllo reports errors by exceptions. Compile without -fno-exceptions
#elif defined(__GNUC__) && !defined(__EDG__)
#include <Phyllo reports errors by exceptions. Compile without -fno-exceptions>
#else
#error Phyllo reports errors by exceptions. Compile without -fno-exceptions
#endif
#endif

#undef PHYLLO_LANGUAGE

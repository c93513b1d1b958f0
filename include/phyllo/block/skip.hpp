// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Names the current value by a tag, a declared type: `struct encoder; Save<encoder>`.
///
/// shape    any -> the same
/// errors   none
template <class Tag> struct Save {};

/// Continues from a saved value (or a NamedInput) instead of the current one.
///
/// errors   compile: no Save<Tag> or NamedInput<Tag, ...> before it
template <class Tag> struct From {};

/// Adds a saved value to the current one.
///
/// errors   compile: as From; two different shapes
template <class Tag> struct AddFrom {};

/// Appends the channels of a saved value to those of the current one.
///
/// errors   compile: as From; different spatial extents
template <class Tag> struct ConcatFrom {};

/// Marks the current value as an output with a name. A network without Output has one output, its
/// last value.
///
/// shape    any -> the same
/// errors   compile: a second Output<Tag>
template <class Tag> struct Output {};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Names the current value by a tag, a declared type: `struct encoder; Save<encoder>`.
///
/// shape    any -> the same
/// errors   compile: more than 32 tags in a network; one that is used again names the later value
template <class Tag> struct Save {};

/// Continues from a saved value (or a NamedInput) instead of the current one.
///
/// errors   compile: no Save<Tag> or NamedInput<Tag, ...> before it
template <class Tag> struct From {};

/// Adds a saved value to the current one.
///
/// errors   compile: as From; two different shapes: Combine<Plus, Tag> broadcasts
template <class Tag> struct AddFrom {};

/// Appends the channels of a saved value to those of the current one.
///
/// errors   compile: as From; different spatial extents
template <class Tag> struct ConcatFrom {};

/// Multiplies the current value by a saved one. Either may be a gate: of one position, for each
/// channel, or of one channel, for each position.
///
/// errors   compile: as From; shapes that differ in more than that
template <class Tag> struct MultiplyBy {};

/// Applies a layer of several values, such as Subtract or your own Map, to the current value and to
/// saved ones, in this order.
///
/// errors   compile: as From; a layer of one value; more than three tags
template <class Layer, class... Tags> struct Combine : detail::NoLayer {
  // Read only where a wrong layer or number of tags made it stay in the list.
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Combine: expected a layer with `operands` (Map) and one to three tags.");
  };
};

/// Marks the current value as an output with a name. A network without Output has one output, its
/// last value.
///
/// shape    any -> the same
/// errors   compile: a second Output<Tag>, or a ninth output
template <class Tag> struct Output {};

}  // namespace phyllo::inline PHYLLO_ISA

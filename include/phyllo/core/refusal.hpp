// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/move_map.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

// The facts of a refusal are the template arguments of the class that holds its sentence:
// compilers print them, and nothing else of the library, above the sentence.

/// Position of a layer in the network, counted from the input, in compile-time messages.
template <int Position> struct Layer;

/// The shape that a layer was given, in compile-time messages: channels, then spatial extents.
template <int... Extent> struct Given;

/// The shape that a layer needs, in compile-time messages.
template <int... Extent> struct Expected;

namespace detail {

// The condition, but read only once the template that it stands in is instantiated.
template <bool Condition, class...> inline constexpr bool met = Condition;

// Base of what stands in a network's list and is no layer: it takes no input.
struct NoLayer {
  static constexpr char const* name = "no_layer";
  static constexpr Role role = Role::move;
  static constexpr bool accepts(Shape) { return false; }
  static constexpr Shape output(Shape s) { return s; }
  static constexpr MoveMap map(Shape s) { return MoveMap::of(s); }
};

}  // namespace detail

/// Replaces a part that is neither a layer nor a block; accepts no input.
template <class Part> struct NotALayer : detail::NoLayer {
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Network: this part is neither a layer nor a block. A layer is a complete type "
                  "with name, role, accepts(Shape) and output(Shape); see docs/20_add_a_layer.md.");
  };
};

/// A layer that does not accept its input and has no sentence of its own.
template <class L, class Where, class Given, class Expected> struct RefusedBy {
  static_assert(
      detail::met<false, Where>,
      "Network: this layer does not accept the shape of its input. Change the part before it.");
};

/// A network whose first part is not an input.
template <class First, class Where> struct NoInput {
  static_assert(detail::met<false, Where>,
                "Network: the first part must be Input<channels, extents...> or NamedInput.");
};

/// A layer that computes with numbers behind an IntegerInput.
template <class L, class Where> struct ReadsIntegers {
  static_assert(detail::met<false, Where>,
                "Network: this layer computes with numbers, and its input are the integers of an "
                "IntegerInput. Put Embedding<entries, channels> between them.");
};

/// A layer that reads integers behind numbers.
template <class L, class Where> struct RequiresIntegers {
  static_assert(detail::met<false, Where>,
                "Network: this layer reads integers, and its input are numbers. Begin with "
                "IntegerInput<extents...> or NamedIntegerInput<tag, extents...>.");
};

/// An output whose value are integers; Where is their input.
template <class L, class Where> struct OutputsIntegers {
  static_assert(detail::met<false, Where>,
                "Network: an output is the integers of an IntegerInput, which the caller has. Put "
                "Embedding<entries, channels> between them, or remove the output.");
};

/// A saved value that does not exist; Where is the next layer.
template <auto Tag, class Where> struct UnknownTag {
  static_assert(
      detail::met<false, Where>,
      "Network: From, AddFrom, ConcatFrom, MultiplyBy or Combine names a tag that no part "
      "before it saved. Put Save<tag> or NamedInput<tag, ...> before it.");
};

/// Two outputs of one name; Where is the layer after the second.
template <auto Tag, class Where> struct OutputTwice {
  static_assert(detail::met<false, Where>,
                "Network: two Output parts have the same tag. Use another tag for each Output, and "
                "no Output inside a Repeat.");
};

/// The tag of an input used for another value; Where is the next layer.
template <auto Tag, class Where> struct InputTwice {
  static_assert(detail::met<false, Where>,
                "Network: a second value has the tag of a NamedInput. Use another tag for the Save "
                "or the other NamedInput.");
};

/// More tags than a network can have; Where is the next layer.
template <auto Tag, class Where> struct TooManyTags {
  static_assert(
      detail::met<false, Where>,
      "Network: expected at most 32 tags and at most 8 outputs. Use a tag again where the "
      "value that it names is not needed any more.");
};

/// Tensors are counted and indexed with 32 bits.
template <class L, class Where, class Given> struct TooLarge {
  static_assert(detail::met<false, Where>,
                "Network: the output of this layer for one sample, or all parameters up to here, "
                "have more than 2147483647 elements. Use fewer channels or smaller extents.");
};

}  // namespace phyllo::inline PHYLLO_ISA

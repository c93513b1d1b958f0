// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>
#include <phyllo/layer/input.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Integers of the caller's, such as indices of words or of materials: a View of integers of 64, 32
/// or unsigned 8 bits, kept as 32 bits whatever the precision.
///
/// shape    as Input
/// errors   compile: as Input; a layer behind it that computes with numbers; a View whose elements
///          are not integers; a gradient of it. Integers beyond 32 bits become -1
/// source   none
template <int... Extent> struct IntegerInput : Input<Extent...> {
  static constexpr char const* name = "integer_input";
  static constexpr ValueType type = ValueType::integer;
};

/// One of several inputs, of integers.
///
/// shape    as Input
/// errors   as IntegerInput
/// source   none
template <class Tag, int... Extent> struct NamedIntegerInput : IntegerInput<Extent...> {
  using tag = Tag;
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The caller's data: extents of one sample, channels first.
///
/// shape    Input<C> · Input<C, L> · Input<C, H, W> · Input<C, D, H, W>
/// errors   compile: no extents, more than four, or one that is not positive
/// source   none
template <int... Extent> struct Input {
  static constexpr char const* name = "input";
  static constexpr Role role = Role::input;
  static constexpr bool valid_options =
      sizeof...(Extent) >= 1 && sizeof...(Extent) <= 4 && ((Extent > 0) && ...);
  static constexpr Shape shape = [] {
    if constexpr (valid_options)
      return Shape{Extent...};
    else
      return Shape{};
  }();
  static constexpr bool accepts(Shape) { return valid_options; }
  static constexpr Shape output(Shape) { return shape; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Input: expected channels and up to three spatial extents, all positive.");
  };
};

/// One of several inputs. Later parts read it as they read a Save<Tag>: by From, AddFrom or
/// ConcatFrom.
///
/// shape    as Input
/// errors   as Input
/// source   none
template <class Tag, int... Extent> struct NamedInput : Input<Extent...> {
  using tag = Tag;
};

}  // namespace phyllo::inline PHYLLO_ISA

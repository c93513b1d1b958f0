// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/map.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class L, std::size_t... I> constexpr bool has_map_formulas(std::index_sequence<I...>) {
  using Derivatives = Partials<float, int(op::detail::MapVariables<L>::size())>;
  return requires(float const* x) {
    { L::value(x[I]...) } -> std::convertible_to<float>;
    { L::derivatives(x[I]...) } -> std::same_as<Derivatives>;
  };
}
// Noise is an argument too.
template <class L>
using MapFormulaArguments =
    std::make_index_sequence<op::detail::MapArguments<L>::size() + op::detail::is_random<L>>;

/// Replaces a layer without its formulas; accepts no input.
template <class L> struct UnfinishedMap : NoLayer {
  static constexpr MapOperand operands[] = {{}};
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(met<false, Where>,
                  "Map: the layer lacks a formula. Expected `template <class T> KOKKOS_FUNCTION "
                  "static T value(T, ...)` of its operands, parameters and buffers, and "
                  "`derivatives` of the same arguments, which returns Partials<T, operands + "
                  "parameters>; with `random`, both have one more argument.");
  };
};

}  // namespace detail

/// Base of the layers that compute y = f(x_0, x_1, ..., p_0, p_1, ...) element by element, from
/// several values and from parameters.
///
/// A layer derives from it and adds a `name`, two function templates over T = float or double, and
/// what these read:
/// - `operands`, an array of MapOperand {.source, .part, .parts}: source 0 is the current value,
///   the next ones are those that Combine names. With `parts`, the operand is that part of its
///   channels.
/// - `parameters`, an array of MapParameter {.name, .initial, .per_channel}, if there are some.
/// - `buffers`, an array of up to two MapBuffer {.name, .initial, .per_element}: numbers that no
///   optimizer changes.
/// - `value(x_0, ..., p_0, ..., b_0, ...)` and `derivatives` of the same arguments, which returns
///   Partials<T, n>: the derivatives by operands and parameters in their order.
/// - `random = true` passes both one more argument, noise: standard normal in training, under
///   (seed, forward pass, layer, sample of the global batch, element), and zero in inference.
///
/// shape    the widest of the operands; one of a single position is read at all positions, one of a
///          single channel for all channels, and its gradient is the sum over them
/// errors   compile: operands of other shapes; channels that `parts` does not divide; a part that
///          no operand reads; another number of values than the operands name
struct Map {
  static constexpr Role role = Role::map;
  static constexpr MapOperand operands[] = {{}};
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }

  /// The layer L, which derives from this, or a refusal of it if a formula is missing.
  template <class L>
  using Finished = std::conditional_t<detail::has_map_formulas<L>(detail::MapFormulaArguments<L>{}),
                                      L, detail::UnfinishedMap<L>>;

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Map: expected as many values as the operands name, of the same shape, of one "
                  "position or of one channel, channels that their parts divide, and an operand "
                  "that reads each part. Use Combine with as many tags, or change the part before "
                  "it.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

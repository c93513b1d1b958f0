// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/loss/losses.hpp>
#include <phyllo/model/bind.hpp>
#include <phyllo/model/bound_ports.hpp>
#include <phyllo/model/tensors.hpp>
#include <phyllo/op/loss.hpp>

#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// The caller's targets of the losses Term, each of one output.
///
/// errors   compile: a number or names of Views that do not fit the losses · run: other extents or
///          another batch than the inputs -> Error
template <class Space, class AllPorts, class... Term> struct BindTargets {
  static constexpr int terms = int(sizeof...(Term));
  /// Losses that have targets.
  static constexpr int wanted = (int(op::outputs_per_target<typename Term::loss>() > 0) + ... + 0);

  /// targets: one View where one loss has targets, or tensors(named<tag>(view), ...), which
  /// check_targets has taken.
  template <class Targets>
  static BoundTensors bind(std::string const& model, Targets const& targets, int batch) {
    BoundTensors bound;
    int k = 0;
    (bind_term<Term>(model, bound, k++, targets, batch), ...);
    return bound;
  }

  /// The compile errors about targets. Called where a user's call arrives, not by bind: each
  /// function between adds three lines to what Clang prints.
  template <class View> static void check_targets(View const&) {
    static_assert(terms == 1 || wanted == 1,
                  "Losses: expected one View of targets for each loss, got a single one. Pass "
                  "tensors(named<tag>(view), ...) with one View for each loss.");
    static_assert((terms != 1 && wanted != 1) || has_none<View> == (wanted == 0),
                  "Losses: a loss has targets and there is none, or the reverse. Pass a View of "
                  "targets, or no_targets for a loss of the outputs alone.");
  }
  template <class... N> static void check_targets(Tensors<N...> const&) {
    using Names = NamedPorts<AllPorts, PortUse::outputs, N...>;
    static_assert(Names::are_known,
                  "Losses: a View of targets has a name that no output of the network has. Use the "
                  "names of its Output<tag>.");
    static_assert(!Names::are_known || (has_target<Term, N...> && ...),
                  "Losses: a loss has no View of targets. Pass tensors(named<tag>(view), ...) with "
                  "one View for each loss.");
    static_assert(!Names::are_known || (fits<N> && ...),
                  "Losses: a loss has targets and there is none, or the reverse. Pass a View of "
                  "targets, or no_targets for a loss of the outputs alone.");
  }
  /// Whether every loss finds its equal parts in the channels of its output.
  static constexpr bool has_equal_parts() {
    return ((AllPorts::output_shape(output_of<Term>()).channels %
                 op::output_parts<typename Term::loss>() ==
             0) &&
            ...);
  }

  template <class T> static constexpr int find_output() {
    if constexpr (std::is_same_v<typename T::tag, detail::TheOutput>)
      return 0;
    else
      return AllPorts::template output_of<typename T::tag>();
  }
  // The first for an output that does not exist: names_outputs() is the one error.
  template <class T> static constexpr int output_of() {
    return find_output<T>() < 0 ? 0 : find_output<T>();
  }

 private:
  // A function of its own: nvcc does not take a lambda that reads a constant of a generic one.
  template <class T> static constexpr Shape target_shape() {
    constexpr int each = op::outputs_per_target<typename T::loss>();
    Shape shape = AllPorts::output_shape(output_of<T>());
    if constexpr (each > 0) shape.channels /= each;
    return shape;
  }

  template <class T, class... N>
  static constexpr bool has_target =
      op::outputs_per_target<typename T::loss>() == 0 ||
      ((AllPorts::template output_of<typename N::tag>() == output_of<T>()) || ...);

  template <class View>
  static constexpr bool has_none = std::is_same_v<std::remove_cvref_t<View>, NoTargets>;
  // Of the loss of the output that N names: whether both have targets.
  template <class N>
  static constexpr bool fits =
      ((AllPorts::template output_of<typename N::tag>() != output_of<Term>() ||
        has_none<decltype(N::view)> == (op::outputs_per_target<typename Term::loss>() == 0)) &&
       ...);

  template <class View>
  static ExternalTensor bind_numbers(View const& view, Shape const& shape, Argument const& who) {
    static_assert(!detail::holds_wide_unsigned<View>,
                  "View: target numbers are no unsigned integers of 32 or 64 bits, which would be "
                  "read as signed ones. Use a View of float, double or int.");
    return bind_input<Space>(view, shape, who);
  }
  template <class T, class Targets>
  static void bind_term(std::string const& model, BoundTensors& bound, int k,
                        Targets const& targets, int batch) {
    Argument const who{model, ", target", k};
    constexpr int each = op::outputs_per_target<typename T::loss>();
    auto const bind_view = [&](auto const& view) {
      if constexpr (!has_none<decltype(view)> && each > 0) {
        constexpr Shape shape = target_shape<T>();
        if (batch_of(view, who) != batch)
          throw Error(who + ": expected " + std::to_string(batch) +
                      " samples as in the inputs, got " + std::to_string(view.extent(0)) + ".");
        if constexpr (T::loss::classes)
          bound.tensor[k] = bind_classes<Space>(view, shape, who);
        else
          bound.tensor[k] = bind_numbers(view, shape, who);
      }
    };
    if constexpr (detail::is_tensors<Targets>)
      targets.visit([&]<class Tag>(auto const& view) {
        if constexpr (AllPorts::template output_of<Tag>() == output_of<T>()) bind_view(view);
      });
    else if constexpr (terms == 1 || (wanted == 1 && each > 0))
      bind_view(targets);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

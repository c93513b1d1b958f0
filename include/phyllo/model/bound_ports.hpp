// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/bind.hpp>
#include <phyllo/model/tensors.hpp>
#include <phyllo/network/ports.hpp>

#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// The inputs or the outputs of a network, bound to the caller's Views.
struct BoundTensors {
  static constexpr int max_tensors = 8;  // Ports::most
  ExternalTensor tensor[max_tensors] = {};
  int batch = -1;

  BoundTensors from_sample(long first, int count) const {
    BoundTensors part = *this;
    for (auto& t : part.tensor) t = phyllo::from_sample(t, first);
    part.batch = count;
    return part;
  }
};

/// What a call does with the Views of the ports.
enum class PortUse { inputs, outputs, output_gradients, input_gradients };

namespace detail {

// Outside of the class: the host's compiler refuses what nvcc makes of a specialised member.
template <class View> inline constexpr bool holds_integers = false;
template <class View>
  requires std::is_integral_v<typename View::value_type>
inline constexpr bool holds_integers<View> = true;
template <class View> inline constexpr bool holds_integers<Gathered<View>> = holds_integers<View>;
// Integers that are read as signed ones: of class indices and entries of tables, those beyond are
// out of range, but as numbers they would be others.
template <class View> inline constexpr bool holds_wide_unsigned = false;
template <class View>
  requires(std::is_unsigned_v<typename View::value_type> && sizeof(typename View::value_type) > 1)
inline constexpr bool holds_wide_unsigned<View> = true;
template <class View>
inline constexpr bool holds_wide_unsigned<Gathered<View>> = holds_wide_unsigned<View>;
// A View whose rank is a constant.
template <class View>
inline constexpr bool is_caller_view = requires(View const& view) {
  view.data();
  typename View::memory_space;
  typename std::integral_constant<int, int(View::rank)>;
};
template <class View> inline constexpr bool is_caller_view<Gathered<View>> = true;

}  // namespace detail

/// Which port each name of Tensors means; -1: none.
template <class AllPorts, PortUse Use, class... N> struct NamedPorts {
  static constexpr int size = int(sizeof...(N));
  template <class Tag> static constexpr int port() {
    if constexpr (Use == PortUse::inputs || Use == PortUse::input_gradients)
      return AllPorts::template input_of<Tag>();
    else
      return AllPorts::template output_of<Tag>();
  }
  static constexpr bool are_known = ((port<typename N::tag>() >= 0) && ...);
  static constexpr bool are_distinct = [] {
    int const ports[] = {port<typename N::tag>()..., -1};
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < i; ++j)
        if (ports[i] >= 0 && ports[i] == ports[j]) return false;
    return true;
  }();
};

/// The inputs and outputs of a network with the caller's Views.
template <class Net> struct BoundPorts : Ports<Net> {
  using Ports<Net>::inputs;
  using Ports<Net>::outputs;
  using Ports<Net>::input_shape;
  using Ports<Net>::output_shape;
  static_assert(Ports<Net>::most == BoundTensors::max_tensors);

  template <class Space, class Views>
  static BoundTensors bind_inputs(Views const& views, std::string const& who) {
    return bind_all<Space, PortUse::inputs>(views, {who, ", input"});
  }
  template <class Space, class Views>
  static BoundTensors bind_outputs(Views const& views, std::string const& who) {
    return bind_all<Space, PortUse::outputs>(views, {who, ", output"});
  }
  /// The caller's gradients of the outputs, which are read.
  template <class Space, class Views>
  static BoundTensors bind_output_gradients(Views const& views, std::string const& who) {
    return bind_all<Space, PortUse::output_gradients>(views, {who, ", d_output"});
  }
  /// Where the gradients of the inputs go: of all inputs, or of those that are named.
  template <class Space, class Views>
  static BoundTensors bind_input_gradients(Views const& views, std::string const& who) {
    return bind_all<Space, PortUse::input_gradients>(views, {who, ", d_input"});
  }

 private:
  static constexpr bool is_written(PortUse use) {
    return use == PortUse::outputs || use == PortUse::input_gradients;
  }

  template <class Space, PortUse Use, class View>
  static BoundTensors bind_all(View const& view, Argument const& who) {
    constexpr int expected =
        Use == PortUse::inputs || Use == PortUse::input_gradients ? inputs : outputs;
    static_assert(expected == 1,
                  "Model: expected one View for each input or output of the network, got a single "
                  "one. Pass tensors(named<tag>(view), ...) with one View for each name.");
    BoundTensors bound;
    if constexpr (expected == 1) bind_one<Space, Use, 0>(bound, view, who);
    if constexpr (is_written(Use)) refuse_shared_memory(bound.tensor[0], bound.batch, who);
    return bound;
  }

  template <class Space, PortUse Use, class... N>
  static BoundTensors bind_all(Tensors<N...> const& views, Argument const& who) {
    using Names = NamedPorts<BoundPorts, Use, N...>;
    constexpr bool complete = Use == PortUse::input_gradients ? Names::size > 0
                              : Use == PortUse::inputs        ? Names::size == inputs
                                                              : Names::size == outputs;
    static_assert(Names::are_known,
                  "Model: a View has a name that no input or output of the network has. Use the "
                  "names of its NamedInput<tag, ...> for inputs and of its Output<tag> for "
                  "outputs.");
    static_assert(!Names::are_known || Names::are_distinct,
                  "Model: two Views have the name of the same input or output of the network.");
    static_assert(!Names::are_known || !Names::are_distinct || complete,
                  "Model: an input or output of the network has no View. Pass "
                  "tensors(named<tag>(view), ...) with one View for each name.");
    BoundTensors bound;
    if constexpr (Names::are_known && Names::are_distinct && complete) {
      views.visit([&]<class Tag>(auto const& view) {
        constexpr int k = Names::template port<Tag>();
        Argument const argument{who.model, who.role, k};
        bind_one<Space, Use, k>(bound, view, argument);
        if constexpr (is_written(Use)) refuse_shared_memory(bound.tensor[k], bound.batch, argument);
      });
      if constexpr (is_written(Use) && Names::size > 1) refuse_shared_memory(bound, who);
    }
    return bound;
  }

  template <class Space, PortUse Use>
  static BoundTensors bind_all(detail::RefusedTensors const&, Argument const&) {
    return BoundTensors();
  }

  template <class Space, PortUse Use, int K, class View>
  static void bind_one(BoundTensors& bound, View const& view, Argument const& who) {
    constexpr bool is_view = detail::is_caller_view<View>;
    constexpr bool is_input = Use == PortUse::inputs || Use == PortUse::input_gradients;
    constexpr bool integers = is_input && Ports<Net>::takes_integers(is_input ? K : 0);
    static_assert(!integers || Use == PortUse::inputs,
                  "Model: integers have no gradient. Pass tensors(named<tag>(view), ...) with the "
                  "other inputs, or no View of gradients of the inputs.");
    static_assert(!integers || Use != PortUse::inputs || !is_view || detail::holds_integers<View>,
                  "Model: an IntegerInput takes a View of integers.");
    static_assert(
        integers || !is_view || !detail::holds_wide_unsigned<View>,
        "View: numbers of an input are no unsigned integers of 32 or 64 bits, which would "
        "be read as signed ones. Use a View of float, double or int.");
    static_assert(is_view,
                  "Model: expected a Kokkos::View, gather(view, ...) or channels_last(view). Of "
                  "other memory make a Kokkos::View<float**, Kokkos::LayoutRight, "
                  "Kokkos::MemoryUnmanaged>(pointer, samples, channels); of a DualView pass one of "
                  "its two Views.");
    if constexpr (is_view) bind_view<Space, Use, K>(bound, view, who);
  }
  template <class Space, PortUse Use, int K, class View>
  static void bind_view(BoundTensors& bound, View const& view, Argument const& who) {
    int const batch = batch_of(view, who);
    if (bound.batch >= 0 && bound.batch != batch)
      throw Error(who + ": expected " + std::to_string(bound.batch) + " samples as before, got " +
                  std::to_string(batch) + ".");
    bound.batch = batch;
    constexpr bool is_input = Use == PortUse::inputs || Use == PortUse::input_gradients;
    Shape const shape = is_input ? input_shape(K) : output_shape(K);
    if constexpr (is_written(Use))
      bound.tensor[K] = bind_output<Space>(view, shape, who);
    else
      bound.tensor[K] = bind_input<Space>(view, shape, who);
  }

  // Of two results in the same memory one would be lost.
  static void refuse_shared_memory(BoundTensors const& bound, Argument const& who) {
    if (bound.batch == 0) return;
    for (int k = 1; k < BoundTensors::max_tensors; ++k)
      for (int j = 0; j < k; ++j)
        if (begin_together(bound.tensor[j], bound.tensor[k]))
          throw Error(Argument{who.model, who.role, j} + " and " + std::to_string(k) +
                      ": expected memory of its own for each, got the same. Pass two Views.");
  }
  static void refuse_shared_memory(ExternalTensor const& gathered, int batch, Argument const& who) {
    if (batch == 0) return;
    for (int i = 1; i < gathered.variables; ++i)
      for (int j = 0; j < i; ++j)
        if (gathered.data[i] == gathered.data[j])
          throw Error(who + ", variables " + std::to_string(j) + " and " + std::to_string(i) +
                      ": expected memory of its own for each, got the same. Gather two Views.");
  }
  static bool begin_together(ExternalTensor const& a, ExternalTensor const& b) {
    for (int i = 0; i == 0 || i < a.variables; ++i)
      for (int j = 0; j == 0 || j < b.variables; ++j)
        if (a.data[i] != nullptr && a.data[i] == b.data[j]) return true;
    return false;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

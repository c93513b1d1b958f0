// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/bind.hpp>
#include <phyllo/model/tensors.hpp>
#include <phyllo/network/program.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// The inputs or the outputs of a network, bound to the caller's Views.
struct BoundTensors {
  static constexpr int max_tensors = 8;
  ExternalTensor tensor[max_tensors] = {};
  int batch = -1;

  BoundTensors from_sample(long first, int count) const {
    BoundTensors part = *this;
    for (auto& t : part.tensor) t = phyllo::from_sample(t, first);
    part.batch = count;
    return part;
  }
};

/// A tag that no input or output of the network has.
template <class Tag> struct UnknownPort {
  static_assert(sizeof(tag_id<Tag>) == 0,
                "Model: the network has no input or output of this name. Name one of its "
                "NamedInput<tag, ...> or Output<tag>.");
};

/// Which node each input and output of a network is.
template <class Net> struct Ports {
  using program = typename Net::program;
  static constexpr int inputs = program::nodes.inputs;
  static constexpr int outputs = program::nodes.outputs;
  static_assert(inputs <= BoundTensors::max_tensors && outputs <= BoundTensors::max_tensors,
                "Model: at most eight inputs and eight outputs.");

  /// Node of input number k.
  static constexpr int input_node(int k) {
    for (int i = 0; i < program::size; ++i)
      if (program::nodes.node[i].role == Role::input && k-- == 0) return i;
    return -1;
  }
  static constexpr int output_node(int k) { return program::nodes.output[k]; }
  static constexpr Shape input_shape(int k) { return program::nodes.node[input_node(k)].output; }
  static constexpr Shape output_shape(int k) { return program::nodes.output_shape[k]; }

  template <class Tag> static constexpr int input_of() {
    int const node = program::edges.find(tag_id<Tag>);
    for (int k = 0; k < inputs; ++k)
      if (input_node(k) == node) return k;
    return -1;
  }
  template <class Tag> static constexpr int output_of() {
    for (int k = 0; k < outputs; ++k)
      if (program::edges.output_tag[k] == tag_id<Tag>) return k;
    return -1;
  }

  template <class Space, class Views>
  static BoundTensors bind_inputs(Views const& views, std::string const& who) {
    return bind_all<Space, Read::inputs>(views, inputs, {who, ", input"});
  }
  template <class Space, class Views>
  static BoundTensors bind_outputs(Views const& views, std::string const& who) {
    return bind_all<Space, Read::none>(views, outputs, {who, ", output"});
  }
  /// The caller's gradients of the outputs, which are read.
  template <class Space, class Views>
  static BoundTensors bind_output_gradients(Views const& views, std::string const& who) {
    return bind_all<Space, Read::outputs>(views, outputs, {who, ", d_output"});
  }
  /// Where the gradients of the inputs go: of all inputs, or of those that are named.
  template <class Space, class Views>
  static BoundTensors bind_input_gradients(Views const& views, std::string const& model) {
    Argument const who{model, ", d_input"};
    BoundTensors bound;
    if constexpr (detail::is_tensors<Views>) {
      views.visit([&]<class Tag>(auto const& view) {
        constexpr int k = input_of<Tag>();
        if constexpr (k < 0)
          (void)sizeof(UnknownPort<Tag>);
        else
          bound.tensor[k] = bind_output<Space>(view, input_shape(k), who);
        bound.batch = batch_of(view, who);
      });
    } else {
      bound.tensor[0] = bind_output<Space>(views, input_shape(0), who);
      bound.batch = batch_of(views, who);
    }
    return bound;
  }

 private:
  enum class Read { inputs, outputs, none };  // whose Views are read; none: outputs are written

  template <class Space, Read What, class Views>
  static BoundTensors bind_all(Views const& views, int expected, Argument const& who) {
    BoundTensors bound;
    if constexpr (detail::is_tensors<Views>) {
      int seen = 0;
      views.visit([&]<class Tag>(auto const& view) {
        constexpr int k = What == Read::inputs ? input_of<Tag>() : output_of<Tag>();
        if constexpr (k < 0)
          (void)sizeof(UnknownPort<Tag>);
        else
          bind_one<Space, What>(bound, k, view, {who.model, who.role, k});
        ++seen;
      });
      check_count(seen, expected, who);
    } else {
      check_count(1, expected, who);
      bind_one<Space, What>(bound, 0, views, who);
    }
    return bound;
  }

  static void check_count(int seen, int expected, Argument const& who) {
    if (seen != expected)
      throw Error(who + "s: expected " + std::to_string(expected) + " Views, got " +
                  std::to_string(seen) +
                  ". Give tensors(named<tag>(view), ...), one for each name.");
  }

  template <class Space, Read What, class View>
  static void bind_one(BoundTensors& bound, int k, View const& view, Argument const& who) {
    if (bound.batch >= 0 && bound.batch != batch_of(view, who))
      throw Error(who + ": expected " + std::to_string(bound.batch) + " samples as before, got " +
                  std::to_string(view.extent(0)) + ".");
    bound.batch = batch_of(view, who);
    if constexpr (What != Read::none)
      bound.tensor[k] =
          bind_input<Space>(view, What == Read::inputs ? input_shape(k) : output_shape(k), who);
    else
      bound.tensor[k] = bind_output<Space>(view, output_shape(k), who);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/map.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Each element of several values, with parameters, buffers and noise.
///
/// state    the layer's `operands`, and its `parameters` and `buffers` if it has some
template <> struct Kind<Role::map> {
  static constexpr KindFacts facts{
      .joins_values = true, .recomputes_chain = true, .rereads_sources = true, .is_cheap = true};

  template <class L> static constexpr void describe(Node& n, Shape const* sources) {
    Shape output = sources[0];
    n.ok = divides_sources<L>(n, sources) && broadcast<L>(sources, output);
    if (!n.ok) return;
    n.output = output;
    constexpr int parameters = op::detail::map_parameters<L>;
    if (detail::exceeds_int(op::map_row_blocks, parameters, output.channels)) {
      n.ok = false;
      n.oversized = true;
      return;
    }
    if constexpr (op::detail::HasMapParameters<L>) add_parameters<L>(n);
    if constexpr (op::detail::HasMapBuffers<L>) add_buffers<L>(n);
    n.partial_count = op::map_row_blocks * parameters * output.channels;
    n.random = op::detail::is_random<L>;
    n.flops = long(op::detail::map_operands<L> + parameters) * output.size();
  }

  template <class Planned, int S>
  using Op = op::Map<typename Planned::template Leaf<S>, typename Planned::template Chain<S>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    fill<S>(pass, work);
    work.y = pass.value(Planned::result(S));
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using L = typename Planned::template Leaf<S>;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Backward<typename Pass::precision> work;
    bool wanted = n.parameter_count() > 0;
    fill<S>(pass, work);
    work.d_y = pass.template result_gradient<S>();
    work.partial = pass.arenas.partial;
    for (int k = 0; k < op::detail::map_parameters<L>; ++k)
      work.d_parameter[k] = pass.parameter_gradient(n.parameter[k]);
    for (int j = 0; j < op::detail::map_operands<L>; ++j) {
      MapOperand const o = L::operands[j];
      if (!pass.template wants<S>(o.source)) continue;
      wanted = true;
      work.d_x[j] = pass.gradient(n.source[o.source]) + first_channel<S, Planned>(o);
      work.accumulate_gradient[j] = adds<S, Planned>(j);
    }
    if (wanted) pass.template run<Op<Planned, S>>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    typename Step::T const z = evaluate(InKernelItem<Step>{step, i / Step::O, i % Step::O},
                                        op::detail::MapArguments<typename Step::Leaf>{});
    step.write(i, z);
  }
  template <class Step> static void in_cells(Step const& step) {
    for (int c = 0; c < Step::O; ++c) {
      auto* const y = step.result() + c * Step::cells;
      for (int i = 0; i < Step::cells; ++i)
        y[i] =
            evaluate(CellItem<Step>{step, c, i}, op::detail::MapArguments<typename Step::Leaf>{});
    }
    step.finish(0, Step::O);
  }

 private:
  template <class L> static constexpr void add_parameters(Node& n) {
    int k = 0;
    for (MapParameter const& p : L::parameters) {
      int const count = p.per_channel ? n.output.channels : 1;
      n.parameter[k] = ParameterTensor::constant(p.name, count, p.initial);
      n.parameter[k++].gives_source_gradient = true;
    }
  }
  template <class L> static constexpr void add_buffers(Node& n) {
    static_assert(op::detail::map_buffers<L> <= Node::most_buffers,
                  "Map: expected at most two `buffers`.");
    int k = 0;
    for (MapBuffer const& b : L::buffers)
      n.buffer_tensor[k++] = {b.name, b.per_element ? n.output.size() : n.output.channels,
                              b.initial, b.per_element};
  }
  // Where buffer number k begins, from the first of the network.
  static constexpr int buffer_place(Node const& n, int k) {
    return n.buffer + (k > 0 ? n.buffer_tensor[0].count : 0);
  }
  // Whether all operands divide a source into the same number of parts, and each part is read.
  template <class L> static constexpr bool divides_sources(Node const& n, Shape const* sources) {
    int needed = 0;
    for (MapOperand const& o : L::operands) {
      needed = o.source + 1 > needed ? o.source + 1 : needed;
      if (o.source < 0 || o.part < 0 || o.part >= o.parts) return false;
    }
    if (needed != n.sources) return false;
    for (int s = 0; s < n.sources; ++s) {
      int parts = 0;
      for (MapOperand const& o : L::operands)
        if (o.source == s) parts = o.parts;
      if (parts == 0 || sources[s].channels % parts != 0) return false;
      for (MapOperand const& o : L::operands)
        if (o.source == s && o.parts != parts) return false;
      for (int part = 0; part < parts; ++part) {
        bool is_read = false;
        for (MapOperand const& o : L::operands)
          is_read = is_read || (o.source == s && o.part == part);
        if (!is_read) return false;
      }
    }
    return true;
  }
  // The shape of the result: operands have its channels or one, and its positions or one.
  template <class L> static constexpr bool broadcast(Shape const* sources, Shape& output) {
    int channels = 0;
    for (MapOperand const& o : L::operands) {
      Shape const s = sources[o.source];
      if (s.positions() > output.positions()) output = s;
      channels = s.channels / o.parts > channels ? s.channels / o.parts : channels;
    }
    output.channels = channels;
    for (MapOperand const& o : L::operands) {
      Shape const s = sources[o.source];
      int const own = s.channels / o.parts;
      bool const fits = s.positions() == 1 || s.with_channels(channels) == output;
      if (!fits || (own != channels && own != 1)) return false;
    }
    return true;
  }

  template <int S, class Planned> static constexpr Shape source(MapOperand const& o) {
    return Planned::head(S).source_shape[o.source];
  }
  template <int S, class Planned> static constexpr int first_channel(MapOperand const& o) {
    return source<S, Planned>(o).channels / o.parts * o.part;
  }
  // Whether the gradient of operand j finds a sum begun: by another step, or by an operand before
  // it that reads the same numbers, as x times x does.
  template <int S, class Planned> static constexpr bool adds(int j) {
    using L = typename Planned::template Leaf<S>;
    Node const n = Planned::head(S);
    MapOperand const own = L::operands[j];
    int first = own.source;
    for (int s = n.sources; s-- > 0;)
      if (n.source[s] == n.source[own.source]) first = s;
    bool begun = Planned::liveness.accumulates(S, first);
    for (int i = 0; i < j; ++i) {
      MapOperand const o = L::operands[i];
      begun = begun || (n.source[o.source] == n.source[own.source] && o.part == own.part);
    }
    return begun;
  }
  template <int S, class Planned> static constexpr bool divides_values_once() {
    using L = typename Planned::template Leaf<S>;
    Node const n = Planned::head(S);
    for (MapOperand const& a : L::operands)
      for (MapOperand const& b : L::operands)
        if (n.source[a.source] == n.source[b.source] && a.parts != b.parts) return false;
    return true;
  }

  // What both passes state.
  template <int S, class Pass, class Work> static void fill(Pass const& pass, Work& work) {
    using Planned = typename Pass::plan;
    using L = typename Planned::template Leaf<S>;
    constexpr Node n = Planned::head(S);
    static_assert(divides_values_once<S, Planned>(),
                  "Combine: a layer reads one value twice, and divides its channels in two ways. "
                  "Give it two values.");
    work.batch = pass.batch;
    work.positions = n.output.positions();
    work.channels = n.output.channels;
    for (int j = 0; j < op::detail::map_operands<L>; ++j) {
      MapOperand const o = L::operands[j];
      Shape const shape = source<S, Planned>(o);
      auto& x = work.x[j];
      x.x = pass.value(n.source[o.source]) + first_channel<S, Planned>(o);
      x.pitch = shape.channels;
      x.channel_step = shape.channels / o.parts == n.output.channels ? 1 : 0;
      x.position_step = shape.positions() == n.output.positions() ? 1 : 0;
    }
    for (int k = 0; k < op::detail::map_parameters<L>; ++k) {
      work.parameter[k] = pass.parameter(n.parameter[k]);
      work.parameter_step[k] = n.parameter[k].count == n.output.channels ? 1 : 0;
    }
    for (int k = 0; k < op::detail::map_buffers<L>; ++k) {
      work.buffer[k] = pass.arenas.buffers + buffer_place(n, k);
      work.buffer_step[k] = n.buffer_tensor[k].per_element ? n.output.channels : 0;
    }
    work.random = pass.template randomness<S>();
    // By its own place in the order; the chain's layers have those behind it.
    work.noise = {work.random.state, Planned::step(S).first};
  }

  // Inside a kernel, the arguments of one element by their numbers: operands, parameters, buffers.
  template <class Step, int I>
  static constexpr int argument_source = Step::Leaf::operands[I].source;
  template <class Step, int I>
  static constexpr int argument_channels =
      Step::Facts::template source_channels<argument_source<Step, I>> /
      Step::Leaf::operands[I].parts;
  template <class Step, int I>
  static constexpr int argument_first = argument_channels<Step, I> * Step::Leaf::operands[I].part;
  template <class Step, int K>
  static constexpr int parameter_place = Step::Facts::head.parameter[K].offset;
  template <class Step, int K>
  static constexpr bool is_per_channel = Step::Facts::head.parameter[K].count == Step::O;
  template <class Step, int K>
  static constexpr int buffer_begin = buffer_place(Step::Facts::head, K);
  template <class Step, int K>
  static constexpr bool is_per_element = Step::Facts::head.buffer_tensor[K].per_element;
  template <class Step, int I>
  PHYLLO_FUNCTION static typename Step::T constant(Step const& step, int position, int c) {
    constexpr int k = I - op::detail::map_operands<typename Step::Leaf>;
    constexpr int parameters = op::detail::map_parameters<typename Step::Leaf>;
    if constexpr (k < parameters) {
      constexpr bool per_channel = is_per_channel<Step, k>;
      return typename Step::T(step.parameters[parameter_place<Step, k> + (per_channel ? c : 0)]);
    } else {
      constexpr int step_of_positions = is_per_element<Step, k - parameters> ? Step::O : 0;
      return typename Step::T(
          step.buffers[buffer_begin<Step, k - parameters> + position * step_of_positions + c]);
    }
  }
  template <class Step, int I>
  static constexpr bool is_operand = I < op::detail::map_operands<typename Step::Leaf>;

  template <class Of> struct InKernelItem {
    using Step = Of;
    Step const& step;
    int position, c;
    template <int I> PHYLLO_FUNCTION typename Step::T argument() const {
      if constexpr (is_operand<Step, I>) {
        constexpr int from = argument_source<Step, I>, channels = argument_channels<Step, I>;
        constexpr int pitch = Step::Facts::template source_channels<from>;
        constexpr bool has_positions = Step::Facts::template source_positions<from> > 1;
        return typename Step::T(
            step.template source<from>()[(has_positions ? position : 0) * pitch +
                                         argument_first<Step, I> + (channels > 1 ? c : 0)]);
      } else {
        return constant<Step, I>(step, position, c);
      }
    }
  };
  template <class Of> struct CellItem {
    using Step = Of;
    Step const& step;
    int c, cell;
    template <int I> typename Step::T argument() const {
      if constexpr (is_operand<Step, I>) {
        constexpr int from = argument_source<Step, I>, channels = argument_channels<Step, I>;
        int const channel = argument_first<Step, I> + (channels > 1 ? c : 0);
        return step.template source<from>()[channel * Step::cells + cell];
      } else {
        return constant<Step, I>(step, 0, c);
      }
    }
  };
  // In inference: without noise.
  template <class Item, std::size_t... I>
  PHYLLO_FUNCTION static typename Item::Step::T evaluate(Item const& item,
                                                         std::index_sequence<I...> all) {
    using T = typename Item::Step::T;
    T const arguments[] = {item.template argument<int(I)>()...};
    return op::detail::map_value<typename Item::Step::Leaf>(arguments, T(0), all);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

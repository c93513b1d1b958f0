// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/infer.hpp>
#include <phyllo/op/lstm_cell.hpp>

#include <string>
#include <vector>

namespace phyllo::test {

/// What a part of a drawn network is.
enum class PartKind {
  input,
  linear,
  convolution,
  pooling,
  global_pooling,
  pointwise,  // number: 0 from its input, 1 from its output, 2 random
  normalization,
  softmax,
  upsample,  // number: factor; 3: of two, by interpolation
  flatten,
  save,    // tag
  from,    // tag
  add,     // tag
  concat,  // tag
  join,    // tags [0, number) side by side
  output,
  row_normalization,  // number: 0 centred, 1 not; bias: with weight and bias
  integer_input,
  lookup,               // number: channels; size[0]: entries
  reshape,              // number: channels; 0: reversed channels in place of other extents
  group_normalization,  // number: groups; bias: with weight and bias
  reduction,  // number: 0 sum, 1 maximum, 2 first maximum; size: extents; bias: channels stay
  scan,  // LSTM<3>; number: 1 with initial states, 2 with lengths as well; bias: last states kept
  map,   // number: 0 halves of channels with noise, 1 parameters, 2 division by channels around
  multiply,   // tag
  attention,  // number: the tag of its keys and values, -1: the current value; bias: with a dropout
  recompute,  // number: 1 begins one, 0 ends it
  unpooling,  // tag, with the numbers of the pooling
};
inline constexpr char const* kind_names[] = {"input",
                                             "linear",
                                             "convolution",
                                             "pooling",
                                             "global pooling",
                                             "pointwise",
                                             "normalization",
                                             "softmax",
                                             "upsample",
                                             "flatten",
                                             "save",
                                             "from",
                                             "add",
                                             "concat",
                                             "join",
                                             "output",
                                             "row normalization",
                                             "integer input",
                                             "lookup",
                                             "reshape",
                                             "group normalization",
                                             "reduction",
                                             "scan",
                                             "map",
                                             "multiply",
                                             "attention",
                                             "recompute",
                                             "unpooling"};
inline constexpr int kinds = 28;

struct Part {
  PartKind kind = PartKind::flatten;
  int number = 0;  // channels, factor, tag or which function
  bool bias = true;
  int rank = 0;             // of windows and of an input
  int size[3] = {1, 1, 1};  // of the window, or extents of an input
  int stride[3] = {1, 1, 1};
  int padding[3] = {0, 0, 0};
};

/// A network as a list of parts, like the arguments of Network<...>.
using Description = std::vector<Part>;

inline constexpr int most_nodes = 40;
inline constexpr int most_saved = 3;  // tags of saved values
using DrawnNodes = Nodes<most_nodes>;
using DrawnGraph = Graph<most_nodes>;

// Layers whose options are numbers at run time: shape inference reads them as it reads a type's.
namespace drawn {

inline Part part;  // of the node that is inferred

inline Window window() {
  Window w;
  for (int d = 3 - part.rank; d < 3; ++d) {
    w.size[d] = part.size[d];
    w.stride[d] = part.stride[d];
    w.padding[d] = part.padding[d];
  }
  return w;
}
struct AnyShape {
  static bool accepts(Shape) { return true; }
  static Shape output(Shape s) { return s; }
};
struct Input : AnyShape {
  static constexpr Role role = Role::input;
  static Shape output(Shape) {
    Shape s(part.number, part.size[0], part.size[1], part.size[2]);
    s.rank = part.rank;
    return s;
  }
};
struct Contraction {
  static constexpr Role role = Role::contraction;
  static inline Window window;
  static inline bool has_bias;
  static bool accepts(Shape s) {
    return s.rank == part.rank && window.fits(s) &&
           (s.rank == 0) == (part.kind == PartKind::linear);
  }
  static Shape output(Shape s) {
    return part.kind == PartKind::linear ? Shape{part.number} : window.output(s, part.number);
  }
};
struct Pooling {
  static constexpr Role role = Role::pooling;
  static constexpr op::PoolingKind kind = op::PoolingKind::maximum;
  static Window window_on(Shape s) {
    Window w = window();
    if (part.kind == PartKind::global_pooling)
      for (int d = 0; d < 3; ++d) w.size[d] = s.spatial[d], w.stride[d] = 1, w.padding[d] = 0;
    return w;
  }
  static bool accepts(Shape s) {
    return s.rank > 0 &&
           (part.kind == PartKind::global_pooling || (s.rank == part.rank && window().fits(s)));
  }
  static Shape output(Shape s) { return window_on(s).output(s, s.channels); }
};
struct Unpooling {
  static constexpr Role role = Role::unpooling;
  using Pooled = Pooling;
  static inline Window window;
  static bool accepts(Shape s) { return s.rank == part.rank; }
  static Shape output(Shape s) { return s; }
};
struct Pointwise : AnyShape {
  static constexpr Role role = Role::pointwise;
  static inline Derivative derivative_of;
};
struct Random : Pointwise {
  static constexpr bool random = true;
};
struct Normalization : AnyShape {
  static constexpr Role role = Role::normalization;
  static constexpr bool global_statistics = false, affine = true;
  static constexpr float momentum = 0.1f, epsilon = 1e-5f;
};
struct IntegerInput : Input {
  static constexpr ValueType type = ValueType::integer;
};
struct Lookup {
  static constexpr Role role = Role::lookup;
  static inline int entries;
  static bool accepts(Shape s) { return s.rank == 0 || s.channels == 1; }
  static Shape output(Shape s) {
    return s.rank == 0 ? Shape(part.number, s.channels) : s.with_channels(part.number);
  }
};
struct RowNormalization : AnyShape {
  static constexpr Role role = Role::row;
  static inline bool affine, centered;
  static constexpr double epsilon = 1e-5;
};
struct GroupNormalization : AnyShape {
  static constexpr Role role = Role::row;
  static inline bool affine;
  static constexpr double epsilon = 1e-5;
  static int groups_of(Shape) { return part.number; }
  static bool accepts(Shape s) { return s.channels % part.number == 0; }
};
struct Reduction {
  static constexpr Role role = Role::reduce;
  static inline op::ReductionKind kind;
  static bool accepts(Shape s) { return s.rank == part.rank; }
  static Shape output(Shape s) {
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] = part.size[d];
    if (!part.bias) s.channels = 1;
    return s;
  }
};
struct LocalResponse : AnyShape {
  static constexpr Role role = Role::local_response;
  static constexpr int size = 5;
};
struct SparseProduct : AnyShape {
  static constexpr Role role = Role::sparse_product;
};
struct Halves : AnyShape {
  static constexpr Role role = Role::map;
  static constexpr MapOperand operands[] = {{.part = 0, .parts = 2}, {.part = 1, .parts = 2}};
  static constexpr bool random = true;
};
struct ScaleShift : AnyShape {
  static constexpr Role role = Role::map;
  static constexpr MapOperand operands[] = {{}};
  static constexpr MapParameter parameters[] = {{"weight", 1}, {"bias", 0, false}};
};
struct Multiply : AnyShape {
  static constexpr Role role = Role::map;
  static constexpr MapOperand operands[] = {{.source = 0}, {.source = 1}};
};
// Of one head: queries, keys and values are whole values.
struct Scores {
  static constexpr Role role = Role::product;
  static constexpr AttentionPart part = AttentionPart::scores;
  static constexpr int heads = 1;
  static constexpr bool causal = false, masked = false;
  static constexpr ChannelPart query{}, key{};
  static bool accepts(Shape s) { return s.rank == 1; }
  static Shape output(Shape s) { return s; }
};
struct WeightedValues {
  static constexpr Role role = Role::product;
  static constexpr AttentionPart part = AttentionPart::values;
  static constexpr int heads = 1;
  static constexpr ChannelPart value{};
  static bool accepts(Shape s) { return s.rank == 2; }
  static Shape output(Shape s) { return s; }
};
struct DropWeights : Random {
  static constexpr AttentionPart part = AttentionPart::dropout;
};
struct Softmax : AnyShape {
  static constexpr Role role = Role::row;
};
struct ScanProjection {
  static constexpr Role role = Role::contraction;
  static constexpr Window window{};
  static constexpr bool has_bias = true;
  static bool accepts(Shape s) { return s.rank <= 1; }
  static Shape output(Shape s) { return s.with_channels(12); }
};
template <int InitialStates, bool HasLengths> struct Scan {
  static constexpr Role role = Role::scan;
  using cell = op::LSTMCell;
  static constexpr int hidden = 3, initial_states = InitialStates, places = 1;
  static constexpr bool has_bias = true, has_lengths = HasLengths;
  static bool accepts(Shape) { return true; }
  static Shape output(Shape s) { return s.with_channels(part.bias ? 6 : 3); }
};
struct Upsample {
  static constexpr Role role = Role::move;
  static bool accepts(Shape s) { return s.rank > 0; }
  static Shape output(Shape s) {
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] *= part.number;
    return s;
  }
  static MoveMap map(Shape s) {
    MoveMap m = MoveMap::of(s);
    for (int d = 3 - s.rank; d < 3; ++d) {
      MoveAxis a = m.axis[d];
      a.repeat = part.number;
      a.extent *= part.number;
      m = m.with(d, a);
    }
    return m;
  }
};
struct Resample {
  static constexpr Role role = Role::resample;
  static bool accepts(Shape s) { return s.rank > 0; }
  static Shape output(Shape s) {
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] *= 2;
    return s;
  }
  static ResampleAxes axes(Shape s) {
    ResampleAxes axes;
    for (int d = 0; d < 3; ++d)
      axes.axis[d] = ResampleAxis::between(s.spatial[d], output(s).spatial[d], 2, false);
    return axes;
  }
};
struct Flatten : AnyShape {
  static constexpr Role role = Role::move;
  static constexpr bool reshapes = true;
  static Shape output(Shape s) { return Shape{s.size()}; }
  static MoveMap map(Shape s) { return MoveMap::reshaped(s, output(s)); }
};
struct Reshape {
  static constexpr Role role = Role::move;
  static constexpr bool reshapes = true;
  static bool accepts(Shape s) { return s.size() % part.number == 0; }
  static Shape output(Shape s) { return Shape(part.number, s.size() / part.number); }
  static MoveMap map(Shape s) { return MoveMap::reshaped(s, output(s)); }
};
struct Flip : AnyShape {
  static constexpr Role role = Role::move;
  static MoveMap map(Shape s) {
    MoveMap m = MoveMap::of(s);
    MoveAxis const channels = m.axis[3];
    if (s.channels > 1) {
      m.axis[3].begin = channels.extent - 1;
      m.axis[3].step = -1;
    }
    return m;
  }
};
struct Add : AnyShape {
  static constexpr Role role = Role::add;
};
struct Concat : AnyShape {
  static constexpr Role role = Role::concatenation;
};

}  // namespace drawn

/// A network while it is lowered: edges and shapes grow together, so that a drawer sees the shape
/// of the current value.
struct Lowering {
  DrawnGraph graph{};
  DrawnNodes nodes{};
  int current = -1;
  int saved[most_saved] = {-1, -1, -1};
  bool valid = true;

  Lowering() { nodes.size = 0; }
  bool is_integer(int i) const { return i >= 0 && nodes.node[i].type == ValueType::integer; }
  Shape shape(int i) const { return i < 0 ? Shape{} : nodes.node[i].output; }

  template <class Layer> void infer(int i) {
    nodes.size = i + 1;
    detail::infer_node<Layer>(nodes, graph, i);
    valid = valid && nodes.node[i].ok;
    current = i;
  }

  void append(Part const& part) {
    if (part.kind == PartKind::recompute) return part.number > 0 ? begin() : end();
    bool const makes_node =
        part.kind != PartKind::save && part.kind != PartKind::from && part.kind != PartKind::output;
    if (!valid || (makes_node && graph.size == most_nodes)) return refuse();
    if (part.kind != PartKind::input && part.kind != PartKind::integer_input &&
        part.kind != PartKind::from && part.kind != PartKind::join && current < 0)
      return refuse();
    drawn::part = part;
    int const tag = part.number;
    switch (part.kind) {
      case PartKind::input:
        return infer<drawn::Input>(graph.append(-1));
      case PartKind::integer_input:
        return infer<drawn::IntegerInput>(graph.append(-1));
      case PartKind::lookup:
        drawn::Lookup::entries = part.size[0];
        return infer<drawn::Lookup>(graph.append(current));
      case PartKind::scan:
        return scan(part);
      case PartKind::row_normalization:
        drawn::RowNormalization::affine = part.bias;
        drawn::RowNormalization::centered = part.number == 0;
        return infer<drawn::RowNormalization>(graph.append(current));
      case PartKind::group_normalization:
        drawn::GroupNormalization::affine = part.bias;
        return infer<drawn::GroupNormalization>(graph.append(current));
      case PartKind::reduction:
        drawn::Reduction::kind = part.number == 0   ? op::ReductionKind::sum
                                 : part.number == 1 ? op::ReductionKind::maximum
                                                    : op::ReductionKind::first_maximum;
        return infer<drawn::Reduction>(graph.append(current));
      case PartKind::attention:
        return attend(part.number < 0 ? current : saved[part.number], part.bias);
      case PartKind::linear:
      case PartKind::convolution:
        drawn::Contraction::window = drawn::window();
        drawn::Contraction::has_bias = part.bias;
        return infer<drawn::Contraction>(graph.append(current));
      case PartKind::pooling:
      case PartKind::global_pooling:
        return infer<drawn::Pooling>(graph.append(current));
      case PartKind::pointwise:
        drawn::Pointwise::derivative_of = part.number == 0   ? Derivative::input
                                          : part.number == 1 ? Derivative::output
                                                             : Derivative::nothing;
        if (part.number == 2) return infer<drawn::Random>(graph.append(current));
        return infer<drawn::Pointwise>(graph.append(current));
      case PartKind::normalization:
        return infer<drawn::Normalization>(graph.append(current));
      case PartKind::softmax:
        return infer<drawn::Softmax>(graph.append(current));
      case PartKind::map:
        if (part.number == 3) return infer<drawn::SparseProduct>(graph.append(current));
        if (part.number == 2) return infer<drawn::LocalResponse>(graph.append(current));
        if (part.number == 0) return infer<drawn::Halves>(graph.append(current));
        return infer<drawn::ScaleShift>(graph.append(current));
      case PartKind::multiply:
        if (saved[tag] < 0) return refuse();
        return infer<drawn::Multiply>(graph.append(current, saved[tag]));
      case PartKind::unpooling:
        if (saved[tag] < 0) return refuse();
        drawn::Unpooling::window = drawn::window();
        return infer<drawn::Unpooling>(graph.append(current, saved[tag]));
      case PartKind::upsample:
        if (part.number == 3) return infer<drawn::Resample>(graph.append(current));
        return infer<drawn::Upsample>(graph.append(current));
      case PartKind::flatten:
        return infer<drawn::Flatten>(graph.append(current));
      case PartKind::reshape:
        if (part.number == 0) return infer<drawn::Flip>(graph.append(current));
        return infer<drawn::Reshape>(graph.append(current));
      case PartKind::save:
        saved[tag] = current;
        return;
      case PartKind::from:
        if (saved[tag] < 0) return refuse();
        current = saved[tag];
        return;
      case PartKind::add:
        if (saved[tag] < 0) return refuse();
        return infer<drawn::Add>(graph.append(current, saved[tag]));
      case PartKind::concat:
        if (saved[tag] < 0) return refuse();
        return infer<drawn::Concat>(graph.append(current, saved[tag]));
      case PartKind::join:
        for (int t = 0; t < part.number; ++t)
          if (saved[t] < 0) return refuse();
        graph.append(saved[0]);
        for (int t = 1; t < part.number; ++t) graph.add_source(saved[t]);
        return infer<drawn::Concat>(graph.size - 1);
      case PartKind::output:
        if (graph.outputs == DrawnGraph::max_outputs || is_integer(current)) return refuse();
        graph.output[graph.outputs++] = current;
        return;
      case PartKind::recompute:
        return;
    }
  }
  void begin() { graph.begin_recomputed(); }
  void end() {
    if (graph.depth == 0) return refuse();
    graph.end_recomputed();
  }
  void attend(int keys, bool drops) {
    if (keys < 0 || graph.size + 4 > most_nodes) return refuse();
    infer<drawn::Scores>(graph.append(current, keys));
    if (valid) infer<drawn::Softmax>(graph.append(current));
    drawn::Pointwise::derivative_of = Derivative::nothing;
    if (valid && drops) infer<drawn::DropWeights>(graph.append(current));
    if (valid) infer<drawn::WeightedValues>(graph.append(current, keys));
  }
  // The network of what was appended; inputs first, as a network demands.
  bool complete() {
    if (!valid || nodes.size < 2) return false;
    if (graph.outputs == 0) {
      if (is_integer(current)) return false;
      graph.output[graph.outputs++] = current;
    }
    detail::complete(nodes, graph);
    for (int i = 0; i < nodes.size; ++i)
      if (!nodes.node[i].ok) return false;
    return true;
  }

 private:
  void refuse() { valid = false; }

  // The projection, the inputs of the states and of the lengths, and the recurrence.
  void scan(Part const& scan) {
    int const inputs = scan.number == 0 ? 0 : scan.number == 1 ? 2 : 3;
    if (graph.size + inputs + 2 > most_nodes) return refuse();
    int source[4] = {current};
    Part input;
    drawn::part = input;
    drawn::part.number = 3;
    for (int k = 0; k < inputs; ++k) {
      if (k == 2) drawn::part.number = 1;
      source[1 + k] = graph.append(-1);
      if (k < 2)
        infer<drawn::Input>(source[1 + k]);
      else
        infer<drawn::IntegerInput>(source[1 + k]);
    }
    infer<drawn::ScanProjection>(graph.append(source[0]));
    graph.append(current);
    for (int k = 1; k <= inputs; ++k) graph.add_source(source[k]);
    drawn::part = scan;
    if (scan.number == 0) return infer<drawn::Scan<0, false>>(graph.size - 1);
    if (scan.number == 1) return infer<drawn::Scan<2, false>>(graph.size - 1);
    infer<drawn::Scan<2, true>>(graph.size - 1);
  }
};

/// The nodes of a description; false: it is no network.
inline bool lower(Description const& description, DrawnNodes& nodes) {
  Lowering lowering;
  for (Part const& part : description) lowering.append(part);
  if (!lowering.complete()) return false;
  nodes = lowering.nodes;
  return true;
}

/// A description as the C++ that its user would write.
inline std::string spelling(Description const& description) {
  std::string text = "struct Net : Network<", tags;
  int outputs = 0, inputs = 0, open = 0;
  auto const triple = [](int rank, int const(&of)[3]) {
    std::string list;
    for (int d = 3 - rank; d < 3; ++d) list += (list.empty() ? "" : ", ") + std::to_string(of[d]);
    return list;
  };
  auto const number = [](int n) { return std::to_string(n); };
  for (std::size_t i = 0; i < description.size(); ++i) {
    Part const& p = description[i];
    bool const ends = p.kind == PartKind::recompute && p.number == 0;
    if (text.back() != '<' && !ends) text += ", ";
    std::string const bias = p.bias ? "" : ", Bias<false>", rank = number(p.rank) + "d";
    switch (p.kind) {
      case PartKind::input:
        text += "NamedInput<struct i" + number(inputs++) + ", " + number(p.number) +
                (p.rank > 0 ? ", " : "") + triple(p.rank, p.size) + ">";
        break;
      case PartKind::integer_input:
        text += "NamedIntegerInput<struct i" + number(inputs++) + ", " + number(p.number) +
                (p.rank > 0 ? ", " : "") + triple(p.rank, p.size) + ">";
        break;
      case PartKind::lookup:
        text += "Embedding<" + number(p.size[0]) + ", " + number(p.number) + ">";
        break;
      case PartKind::scan:
        text += "LSTM<3";
        if (p.number > 0) {
          text += ", InitialState<struct i" + number(inputs) + ", struct i" + number(inputs + 1);
          inputs += 2;
          text += ">";
        }
        if (p.number > 1) text += ", SequenceLengths<struct i" + number(inputs++) + ">";
        text += p.bias ? ", FinalState<struct h, struct c>>" : ">";
        break;
      case PartKind::attention:
        text +=
            p.number < 0 ? "MultiheadAttention<1" : "CrossAttention<1, struct t" + number(p.number);
        text += std::string(p.bias ? ", Dropout<>" : "") + ">";
        break;
      case PartKind::row_normalization:
        text += std::string(p.number == 0 ? "LayerNorm<" : "RMSNorm<") +
                (p.bias ? "" : "Affine<false>") + ">";
        break;
      case PartKind::group_normalization:
        text += "GroupNorm<" + number(p.number) + (p.bias ? "" : ", Affine<false>") + ">";
        break;
      case PartKind::reduction:
        if (!p.bias) text += p.number == 0 ? "Sum<Axis::channels>, " : "Max<Axis::channels>, ";
        text += (p.number == 2 ? "AdaptiveMaxPool" : "AdaptiveAveragePool") + rank + "<" +
                triple(p.rank, p.size) + ">";
        break;
      case PartKind::linear:
        text += "Linear<" + number(p.number) + bias + ">";
        break;
      case PartKind::convolution:
        text += "Conv" + rank + "<" + number(p.number) + ", KernelSize<" + triple(p.rank, p.size) +
                ">, Stride<" + triple(p.rank, p.stride) + ">, Padding<" +
                triple(p.rank, p.padding) + ">" + bias + ">";
        break;
      case PartKind::pooling:
        text += (p.number == 0 ? "MaxPool" : "AveragePool") + rank + "<" + number(p.size[2]) +
                ", Stride<" + triple(p.rank, p.stride) + ">, Padding<" + triple(p.rank, p.padding) +
                ">>";
        break;
      case PartKind::global_pooling:
        text += "GlobalAveragePool";
        break;
      case PartKind::pointwise:
        text += p.number == 0 ? "GELU" : p.number == 1 ? "Tanh" : "Dropout<>";
        break;
      case PartKind::normalization:
        text += "BatchNorm<>";
        break;
      case PartKind::softmax:
        text += "Softmax";
        break;
      case PartKind::recompute:
        text += ends ? ">" : "Recompute<";
        open += ends ? -1 : 1;
        break;
      case PartKind::map:
        text += p.number == 0   ? "Reparameterise"
                : p.number == 1 ? "ScaleShift"
                : p.number == 2 ? "LocalResponseNorm<5>"
                                : "SparseProduct<>";
        break;
      case PartKind::multiply:
        text += "MultiplyBy<struct t" + number(p.number) + ">";
        break;
      case PartKind::unpooling:
        text += "Combine<MaxUnpool" + rank + "<" + number(p.size[2]) + ", Stride<" +
                triple(p.rank, p.stride) + ">, Padding<" + triple(p.rank, p.padding) +
                ">>, struct t" + number(p.number) + ">";
        break;
      case PartKind::upsample:
        text += p.number == 3 ? "Upsample<2, LinearInterpolation>"
                              : "Upsample<" + number(p.number) + ">";
        break;
      case PartKind::flatten:
        text += "Flatten";
        break;
      case PartKind::reshape:
        text += p.number == 0 ? "Flip<1>" : "Reshape<" + number(p.number) + ", -1>";
        break;
      case PartKind::save:
        text += "Save<struct t" + number(p.number) + ">";
        break;
      case PartKind::from:
        text += "From<struct t" + number(p.number) + ">";
        break;
      case PartKind::add:
        text += "AddFrom<struct t" + number(p.number) + ">";
        break;
      case PartKind::concat:
        text += "ConcatFrom<struct t" + number(p.number) + ">";
        break;
      case PartKind::join:
        text += "Branch<";
        for (int t = 0; t < p.number; ++t)
          text += std::string(t > 0 ? ", " : "") + "Path<From<struct t" + number(t) + ">>";
        text += ">";
        break;
      case PartKind::output:
        text += "Output<struct o" + number(outputs++) + ">";
        break;
    }
  }
  return text + std::string(std::size_t(open), '>') + "> {};";
}

}  // namespace phyllo::test

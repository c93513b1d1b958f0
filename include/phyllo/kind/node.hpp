// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {
// Whether a product of positive numbers is more than an int holds.
template <class... Number> constexpr bool exceeds_int(Number... number) {
  return (1.0 * ... * number) > 2147483647.0;
}
}  // namespace detail

constexpr int element_bytes(ValueType type, int storage, int accumulate) {
  return type == ValueType::integer ? 4 : type == ValueType::accumulate ? accumulate : storage;
}

/// How a parameter begins.
enum class Initial : std::uint8_t {
  scheme,   // drawn by the scheme of Model::initialize
  normal,   // drawn from a normal distribution of deviation one
  uniform,  // drawn within +-1 / sqrt(fan_in)
  zero,
  one,
  constant,  // initial_value
};

/// One trainable tensor of a node.
///
/// shape    (taps, channels, outputs) in the arena; in files (outputs, channels, window...), of
///          which the first file_rank extents are written
struct ParameterTensor {
  char const* name = "";  // torch's
  int count = 0;          // elements; 0: there is none
  int offset = -1;        // elements from the start of the parameter arena; -1: none
  int taps = 1, channels = 1, outputs = 1;
  int file[6] = {};
  int file_rank = 1;
  int file_first = 0;  // element of the file's tensor that is its first one: several may share it
  Initial initial = Initial::zero;
  double initial_value = 0;            // of Initial::constant
  int fan_in = 1, fan_out = 1;         // numbers that one output reads, and that read one input
  bool gives_source_gradient = false;  // the gradient of the node's source reads it

  /// A tensor of one extent.
  static constexpr ParameterTensor vector(char const* name, int count, Initial initial) {
    ParameterTensor t;
    t.name = name;
    t.count = t.outputs = t.file[0] = count;
    t.initial = initial;
    return t;
  }
  /// The same, its elements one number at first.
  static constexpr ParameterTensor constant(char const* name, int count, double value) {
    ParameterTensor t = vector(name, count, Initial::constant);
    t.initial_value = value;
    return t;
  }
};

/// One tensor of a node that optimizers do not change, float: running statistics, which steps
/// write, or constants of the network.
///
/// shape    (count), or with per_element (S, C) in the arena and (C, S...) in files
struct BufferTensor {
  char const* name = "";
  int count = 0;
  float initial = 0;
  bool per_element = false;  // of the node's output
};

/// Numbers that a node keeps from its forward pass to its backward pass beside values.
struct SavedValue {
  int elements = 0;  // of one sample; 0: there is none
  ValueType type = ValueType::storage;
  bool by_fused_steps = false;  // only where other layers join the kernel
};

/// One operation of a network: the contract between the types in front and the plan, the memory and
/// the kernels behind. Plain numbers; independent of the type of the layer. The layer's kind fills
/// them in (kind/).
struct Node {
  static constexpr int most_parameters = 4;
  static constexpr int most_buffers = 2;
  static constexpr int most_saved = 2;

  Role role = Role::input;
  bool ok = true;          // the layer takes the shape that it is given
  bool oversized = false;  // more elements than 32 bits count
  bool mistyped = false;   // integers where numbers are wanted, or the reverse:
  bool lacks_integers = false;
  bool alias = false;     // no work: the value is that of source[0] under another shape
  bool flattens = false;  // to one row of numbers, in the order (C, S...)
  int sources = 0;
  int source[4] = {-1, -1, -1, -1};  // nodes whose values are read, aliases already followed
  Shape source_shape[4];  // of each, as the node reads it: an alias may be stored under others
  Shape input;            // of source[0]
  Shape output;
  ValueType type = ValueType::storage;  // of the output
  Window window;                        // contraction, pooling
  ParameterTensor parameter[most_parameters];
  BufferTensor buffer_tensor[most_buffers];
  int buffer = -1;  // of the first one: elements from the start of the buffer arena
  SavedValue saved[most_saved];
  int batch_state = -1;  // sums over a batch, kept from forward to backward: elements
  int batch_state_count = 0;
  int partial_count = 0;         // workspace of the backward pass: numbers of the type of sums
  int sample_partial_count = 0;  // the same, for each sample
  int narrow_partial_count = 0;  // likewise, where storage is narrower than sums
  bool global_statistics = false;
  double momentum = 0;
  double epsilon = 0;
  bool random = false;
  // Besides what its kind does: backward reads the sources, the result; no layer joins its kernel;
  // it is part of no segment, though others of its kind are.
  bool rereads_source = false;
  int first_reread = 0;  // of its sources, if they are read again; those before are not
  // Its passes write over source 0, which no other node reads: what is kept, then the gradient.
  bool overwrites_source = false;
  bool rereads_result = false;
  bool ends_chain = false;
  bool ends_segment = false;
  AttentionPart part = AttentionPart::none;
  int recomputed = 0;  // number of the Recompute that it is in; 0: none
  Derivative derivative_of = Derivative::nothing;
  long flops = 0;  // of one sample, forward; a multiply-add counts two
  long parameter_gradient_flops = 0, source_gradient_flops = 0;

  constexpr long parameter_count() const {
    long count = 0;
    for (ParameterTensor const& t : parameter) count += t.count;
    return count;
  }
  /// Where its parameters begin in their arena; -1: it has none.
  constexpr int first_parameter() const {
    for (ParameterTensor const& t : parameter)
      if (t.count > 0) return t.offset;
    return -1;
  }
  constexpr int buffer_count() const {
    int count = 0;
    for (BufferTensor const& t : buffer_tensor) count += t.count;
    return count;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/network/infer.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether an update rule reads the tensor that an element belongs to: its group, or norms of it.
/// Beside rate, schedule, states and prepare, such a rule has
///   tensor_sums     sums over the elements of a tensor, before each update; may be 0
///   tensor_numbers  numbers that it keeps for each tensor from step to step, at first 0; may be 0
///   group(t)        the group of a NetworkTensor, called on the host at construction; optional
///   measure         (w, g, state, stride, step, tensor, terms): sets terms[tensor_sums], what one
///                   element adds; may write `state`, such as moments that the update reads
///   prepare_tensor  (sums, step, tensor): sets tensor.numbers, such as a trust ratio
///   update          (w, g, state, stride, step, tensor): the new value of w
/// g is the clipped mean gradient; `tensor` is a RuleTensor. What a group means is the rule's: its
/// rates, its decay.
template <class Rule>
inline constexpr bool reads_tensors = requires {
  Rule::tensor_sums;
  Rule::tensor_numbers;
};

namespace detail {
template <class Rule> constexpr int tensor_sums() {
  if constexpr (reads_tensors<Rule>) return Rule::tensor_sums;
  return 0;
}
template <class Rule> constexpr int tensor_numbers() {
  if constexpr (reads_tensors<Rule>) return Rule::tensor_numbers;
  return 0;
}
}  // namespace detail

/// The tensor of an element, as a rule reads it.
///
/// options  T: the precision's accumulate · N: Rule::tensor_numbers
template <class T, int N> struct RuleTensor {
  int group = 0;
  T numbers[N > 0 ? N : 1] = {};
  double rate_factor = 1, weight_decay = 0;  // of its ParameterGroup, read by GroupedRule
};

/// One tensor in device memory.
struct TensorEntry {
  int first = 0;   // element of the arena
  int count = 0;   // elements, without padding
  int end = 0;     // behind its padding
  int group = 0;   // by Rule::group
  int frozen = 0;  // neither measured nor updated
  int place = -1;  // of its StepState in TensorArena::own_steps; -1: the model's
  int first_block = 0, blocks = 0;
  double rate_factor = 1, weight_decay = 0;  // of its ParameterGroup
};

/// A part of one tensor, which one work item or team sums.
struct TensorBlock {
  int tensor = 0;
  int first = 0;  // element of the arena
  int count = 0;
};

/// The tensors of a network as kernels see them.
template <class T> struct TensorArena {
  TensorEntry const* entries = nullptr;  // (tensors)
  TensorBlock const* blocks = nullptr;   // (blocks)
  int const* tensor_of = nullptr;  // (arena / parameter_alignment), to which tensors are aligned
  StepState const* own_steps = nullptr;  // of tensors that have missed steps
  T* numbers = nullptr;                  // (tensors, Rule::tensor_numbers)
  T* sums = nullptr;                     // (blocks, Rule::tensor_sums)

  PHYLLO_INLINE int index_of(long element) const {
    return tensor_of[element / parameter_alignment];
  }
  /// The StepState of a tensor, where the model's is `state`.
  PHYLLO_INLINE StepState const& step_of(int t, StepState const* state) const {
    int const place = entries[t].place;
    return place < 0 ? *state : own_steps[place];
  }
  template <int N> PHYLLO_INLINE RuleTensor<T, N> tensor(int t) const {
    RuleTensor<T, N> own;
    own.group = entries[t].group;
    for (int k = 0; k < N; ++k) own.numbers[k] = numbers[long(t) * N + k];
    own.rate_factor = entries[t].rate_factor;
    own.weight_decay = entries[t].weight_decay;
    return own;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

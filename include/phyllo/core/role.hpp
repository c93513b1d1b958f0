// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// The kind of work of a node of a program, for the rules of fusion and memory.
enum class Role : std::uint8_t {
  input,             // the caller's data
  contraction,       // linear and convolution: weights times a window, plus bias
  normalization,     // statistics over the batch per channel
  pointwise,         // each element by itself
  pooling,           // window reduced without weights
  add,               // sum of two values
  concatenation,     // channels of several values side by side
  row,               // statistics of the channels of one position
  lookup,            // rows of a table by index
  convolution,       // contractions with dilated taps, groups or other borders, and transposed ones
  move,              // elements at other places: slices, borders, copies, other extents
  reduce,            // sum, mean or maximum over axes, adaptive pooling
  map,               // each element of several values, with parameters and noise
  product,           // of two values, head by head
  position,          // numbers that depend on the position, added or as angles of a rotation
  scan,              // a recurrent layer: one cell over the positions of a sequence
  resample,          // interpolation along the spatial axes
  local_response,    // each number over a power of the mean square of channels around it
  fourier,           // frequencies of a transform along one axis, or back to space
  spectral_product,  // channels of each frequency times a complex matrix
  unpooling,         // values of windows at the places of the maxima
  sparse_product,    // a sparse matrix of the caller's times the nodes of a graph
};

/// Which value the derivative of a pointwise function is computed from; decides what a training
/// step keeps.
enum class Derivative : std::uint8_t { nothing, input, output };

/// The function that a pointwise layer computes, where an instruction or a library has it too.
/// `other` is any function that has no entry here.
///
/// numerics each entry leaves a NaN a NaN; gelu is x Phi(x), not its approximation by a tanh
enum class Activation : std::uint8_t { other, rectifier, hyperbolic_tangent, logistic, gelu };

/// Which part of an attention a layer computes, for the rule that makes one kernel of them.
enum class AttentionPart : std::uint8_t {
  none,
  scores,   // queries times keys
  weights,  // the softmax of the scores
  dropout,  // of weights
  values,   // weights times values
};

/// What the numbers of a value are.
enum class ValueType : std::uint8_t {
  storage,     // the precision's storage type
  accumulate,  // its type of sums: statistics beside values of 16 bits
  integer,     // 32 bits, without a gradient: indices
};

enum class Phase : std::uint8_t { inference = 1, training = 2, both = 3 };

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/node.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What a kind of op is inside a fused segment.
enum class SegmentPart : std::uint8_t {
  none,           // it ends a segment
  product,        // weights times a window
  pooling,        // a window reduced without weights
  sum,            // of two values
  normalization,  // by running statistics, in inference
  row_norm,       // by statistics of the row; Node::ends_segment: others of the kind
  chain,          // each element by itself: joins the kernel of the layer before
};

/// What planner, lifetimes, memory and checks ask about a kind of op.
///
/// options  designated initialisers: a name that does not exist is an error
struct KindFacts {
  bool is_given = false;           // the caller's data: no step computes it
  bool joins_values = false;       // reads several values
  bool adds = false;               // of two values the sum, so that either may come first
  bool reads_unflattened = false;  // its window may be a whole image that a Flatten makes one row
  bool reads_integers = false;     // its source are integers
  int mask_source = -1;            // the number of a source that are integers, beside numbers
  bool is_chain = false;           // each element by itself
  bool saves_chain_input = false;  // keeps the input of the chain behind it where that is asked for
  bool recomputes_chain = false;   // computes that input again, unless a sum stands in between
  bool rereads_sources = false;    // backward reads the sources
  bool is_cheap = false;           // a few operations for each number of the result
  bool waits_for_batch = false;    // results depend on all samples of a batch
  SegmentPart segment = SegmentPart::none;
};

/// One kind of op: all that the library knows about it. Specialised in kind/<kind>.hpp for each
/// Role, and listed in kind/kinds.hpp.
///
/// state    facts · describe<Layer>(node, sources): the numbers of a node whose shapes are known ·
///          Op<Planned, S>: the op of a step that it heads · forward<S>(pass), backward<S>(pass):
///          fill the op's work and launch it · in_kernel(step, i), in_cells(step): the same inside
///          the caller's kernels, if there is such a form
template <Role R> struct Kind;

}  // namespace phyllo::inline PHYLLO_ISA

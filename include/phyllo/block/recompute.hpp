// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The parts in sequence, as without it, in less memory: training keeps the values between them
/// until the next layer has read them, and computes them again before their gradients.
///
/// shape    that of the parts
/// options  one part or several. A Recompute inside another one is part of the outer one
/// state    that of the parts; one part keeps its names in files, several have those of
///          torch.nn.Sequential
/// errors   compile: no part
/// numerics the same bits: masks are drawn again from the same numbers, and batch statistics are
///          kept
/// cost     the forward pass of the parts once more for each step, but for layers whose value and
///          kept numbers no gradient reads; layers that a segment fuses are computed again with
///          or without it. Worth it around each of several blocks: `explain` prints the memory
/// source   Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv:1604.06174, 2016
template <class... Parts> struct Recompute : detail::NoLayer {
  // Read only where the lack of parts made it stay in the list.
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "Recompute: give at least one part.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA

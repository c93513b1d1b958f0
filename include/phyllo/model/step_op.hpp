// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/planned.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Planned, int S, bool IsSegment> struct StepOpOf {
  using type = typename Kind<Planned::head(S).role>::template Op<Planned, S>;
};
template <class Planned, int S> struct StepOpOf<Planned, S, true> {
  using type = StepSegment<Planned, S>;
};

// Where the backward pass of a kind launches another op than its forward pass.
template <class Planned, int S>
concept HasBackwardOp =
    requires { typename Kind<Planned::head(S).role>::template BackwardOp<Planned, S>; };
template <class Planned, int S> struct BackwardOpOf : StepOpOf<Planned, S, false> {};
template <class Planned, int S>
  requires HasBackwardOp<Planned, S>
struct BackwardOpOf<Planned, S> {
  using type = typename Kind<Planned::head(S).role>::template BackwardOp<Planned, S>;
};

}  // namespace detail

/// The op that step S of a plan launches.
template <class Planned, int S>
using StepOp =
    typename detail::StepOpOf<Planned, S, Planned::step(S).kind == StepKind::segment>::type;

/// The op of its backward pass, of a step that is no segment.
template <class Planned, int S>
using StepBackwardOp = typename detail::BackwardOpOf<Planned, S>::type;

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/planned.hpp>
#include <phyllo/op/segment_backward.hpp>

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
template <class Planned, int S, bool IsSegment>
struct BackwardOpOf : StepOpOf<Planned, S, false> {};
template <class Planned, int S> struct BackwardOpOf<Planned, S, true> {
  using type = std::conditional_t<(Planned::liveness.normalized_by(S) >= 0),
                                  op::NormalizedSegmentBackward<StepSegment<Planned, S>>,
                                  op::SegmentBackward<StepSegment<Planned, S>>>;
};
template <class Planned, int S>
  requires HasBackwardOp<Planned, S>
struct BackwardOpOf<Planned, S, false> {
  using type = typename Kind<Planned::head(S).role>::template BackwardOp<Planned, S>;
};

}  // namespace detail

/// The op that step S of a plan launches.
template <class Planned, int S>
using StepOp =
    typename detail::StepOpOf<Planned, S, Planned::step(S).kind == StepKind::segment>::type;

/// The op of its backward pass.
template <class Planned, int S>
using StepBackwardOp =
    typename detail::BackwardOpOf<Planned, S, Planned::step(S).kind == StepKind::segment>::type;

/// The parameters of step S in their arena, from the first one to the end of the last.
struct ParameterRange {
  int first = -1;
  int count = 0;
};
template <class Planned, int S>
inline constexpr ParameterRange step_parameters = [] {
  ParameterRange range;
  Step const step = Planned::step(S);
  for (int k = step.first; k < step.first + step.count; ++k) {
    // nvcc does not extend the life of a temporary whose member a loop is over.
    Node const node = Planned::node(Planned::plan.order[k]);
    for (ParameterTensor const& t : node.parameter) {
      if (t.count == 0) continue;
      if (range.first < 0) range.first = t.offset;
      range.count = t.offset + t.count - range.first;
    }
  }
  return range;
}();

}  // namespace phyllo::inline PHYLLO_ISA

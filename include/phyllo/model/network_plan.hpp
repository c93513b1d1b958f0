// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/planned.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// On a device, kernels with too few work items for it are planned in inference only.
template <class P, class Exec> struct ExecutionLimits {
  static constexpr SegmentLimits value = [] {
    SegmentLimits limits = SelectedLimits<P, typename Exec::backends>::value;
    bool const fills = limits.fills_devices || is_processor<typename Exec::space>;
    limits.trains = limits.trains && fills;
    limits.whole_steps = limits.whole_steps && fills;
    return limits;
  }();
};

}  // namespace detail

/// The plan of a network in one phase, as an execution runs it: its level of fusion and what it
/// computes again, within the limits of the first of its backends that has segments in this
/// precision.
template <class Net, Phase When, class P, class Exec>
using NetworkPlan = Planned<Net, When, Exec::fusion, int(sizeof(typename P::storage)),
                            detail::ExecutionLimits<P, Exec>, int(sizeof(typename P::accumulate)),
                            Exec::recomputation>;

}  // namespace phyllo::inline PHYLLO_ISA

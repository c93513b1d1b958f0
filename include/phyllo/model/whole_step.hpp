// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/model/network_plan.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a network with one loss is trained in one pass: it is one segment, and the backend of
/// its segments has whole steps that fill the execution space.
template <class Net, class P, class Exec> constexpr bool runs_whole_steps() {
  constexpr SegmentLimits limits = SelectedLimits<P, typename Exec::backends>::value;
  return (limits.fills_devices || is_processor<typename Exec::space>) &&
         is_whole_step<typename Net::program>(Exec::fusion, limits);
}

}  // namespace phyllo::inline PHYLLO_ISA

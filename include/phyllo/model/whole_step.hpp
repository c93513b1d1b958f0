// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/network_plan.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a network with one loss is trained in one pass: it is one segment, and the backend of
/// its segments has whole steps that fill the execution space.
template <class Net, class P, class Exec> constexpr bool runs_whole_steps() {
  return is_whole_step<typename Net::program>(Exec::fusion,
                                              detail::ExecutionLimits<P, Exec>::value);
}

}  // namespace phyllo::inline PHYLLO_ISA

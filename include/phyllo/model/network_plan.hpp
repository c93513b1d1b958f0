// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/planned.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The plan of a network in one phase, as an execution runs it: its level of fusion, within the
/// limits of the first of its backends that has segments in this precision.
template <class Net, Phase When, class P, class Exec>
using NetworkPlan = Planned<Net, When, Exec::fusion, int(sizeof(typename P::storage)),
                            SelectedLimits<P, typename Exec::backends>,
                            int(sizeof(typename P::accumulate))>;

}  // namespace phyllo::inline PHYLLO_ISA

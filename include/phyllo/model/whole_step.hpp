// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/planned.hpp>
#include <phyllo/loss/mean_squared_error.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Whether a network with one loss is trained in one pass: it is one segment, and a backend of the
/// list has kernels for it that fill the execution space.
template <class Net, class P, class Exec> constexpr bool runs_whole_steps() {
  if constexpr (!is_whole_step<typename Net::program>(Exec::fusion)) {
    return false;
  } else {
    using Plan = Planned<Net, Phase::inference, Exec::fusion, int(sizeof(typename P::storage))>;
    // Every loss will do: backends do not choose by it.
    using Op = op::WholeStep<StepSegment<Plan, 0>, MeanSquaredError>;
    return !for_processors<SelectedKernels<Op, P, typename Exec::backends>> ||
           is_processor<typename Exec::space>;
  }
}

}  // namespace phyllo::inline PHYLLO_ISA

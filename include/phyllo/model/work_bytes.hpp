// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/planned.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Bytes of work memory that the kernels of a plan use for each thread.
template <class Planned, class P, class Exec> constexpr long work_bytes() {
  long most = 0;
  [&]<std::size_t... S>(std::index_sequence<S...>) {
    auto const one = [&]<int Step>() {
      if constexpr (Planned::step(Step).kind == StepKind::segment) {
        using Kernels = SelectedKernels<StepSegment<Planned, Step>, P, typename Exec::backends>;
        most = thread_bytes<Kernels> > most ? thread_bytes<Kernels> : most;
      }
    };
    (one.template operator()<int(S)>(), ...);
  }(std::make_index_sequence<Planned::plan.size>{});
  return most;
}

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/planned.hpp>
#include <phyllo/model/step_op.hpp>

#include <algorithm>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Planned, int S, class P, class Exec> constexpr long step_bytes() {
  using List = typename Exec::backends;
  if constexpr (Planned::step(S).kind == StepKind::segment)
    return kernel_traits<SelectedKernels<StepSegment<Planned, S>, P, List>>.thread_bytes;
  else
    return std::max(
        kernel_traits<SelectedKernels<StepOp<Planned, S>, P, List>>.thread_bytes,
        kernel_traits<SelectedKernels<StepBackwardOp<Planned, S>, P, List>>.thread_bytes);
}

}  // namespace detail

/// Bytes of work memory that the kernels of a plan use for each thread.
template <class Planned, class P, class Exec> constexpr long work_bytes() {
  return []<std::size_t... S>(std::index_sequence<S...>) {
    return std::max({0L, detail::step_bytes<Planned, int(S), P, Exec>()...});
  }(std::make_index_sequence<Planned::plan.size>{});
}

}  // namespace phyllo::inline PHYLLO_ISA

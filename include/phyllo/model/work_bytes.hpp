// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/planned.hpp>
#include <phyllo/model/step_op.hpp>

#include <algorithm>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// Rows of parameter gradients that the kernels of a whole step or a segment write.
template <class Op, class Kernels, class Space> int workspace_rows(Space const& exec, int shards) {
  constexpr WorkspaceRows rows = kernel_traits<Kernels>.rows;
  if constexpr (rows == WorkspaceRows::of_kernels)
    return Kernels::workspace_rows(exec);
  else if constexpr (rows == WorkspaceRows::of_threads)
    return std::max({Op::blocks, int(exec.concurrency()), shards});
  else
    return Op::blocks;
}

namespace detail {

template <class Planned, int S, class P, class Exec> constexpr long step_bytes() {
  using List = typename Exec::backends;
  long bytes = kernel_traits<SelectedKernels<StepOp<Planned, S>, P, List>>.thread_bytes;
  if constexpr (Planned::phase == Phase::training)
    bytes = std::max(
        bytes, kernel_traits<SelectedKernels<StepBackwardOp<Planned, S>, P, List>>.thread_bytes);
  return bytes;
}

template <class Planned, int S, class P, class Exec> constexpr long step_sample_bytes() {
  return kernel_traits<SelectedKernels<StepBackwardOp<Planned, S>, P, typename Exec::backends>>.sample_bytes;
}

// Numbers of the workspace of step S: of its node, its kernels, and of rows of gradients where it
// is a segment.
template <class Planned, int S, class P, class Exec>
long step_partial_count(typename Exec::space const& exec, long batch) {
  using Op = StepBackwardOp<Planned, S>;
  using All = SelectedKernels<Op, P, typename Exec::backends>;
  constexpr Node head = Planned::head(S);
  constexpr bool is_narrow = sizeof(typename P::storage) < sizeof(typename P::accumulate);
  constexpr long of_sample =
      head.sample_partial_count + (is_narrow ? long(head.narrow_partial_count) : 0);
  long count = std::max(head.partial_count + batch * of_sample, kernel_traits<All>.partial_count);
  if constexpr (Planned::step(S).kind == StepKind::segment)
    count = std::max(count, long(workspace_rows<Op, All>(exec, Exec::shards)) *
                                step_parameters<Planned, S>.count);
  return count;
}

}  // namespace detail

/// Bytes of work memory that the kernels of a plan use for each thread.
template <class Planned, class P, class Exec> constexpr long work_bytes() {
  return []<std::size_t... S>(std::index_sequence<S...>) {
    return std::max({0L, detail::step_bytes<Planned, int(S), P, Exec>()...});
  }(std::make_index_sequence<Planned::plan.size>{});
}

/// Bytes of work memory that the backward kernels of a plan use for each sample.
template <class Planned, class P, class Exec> constexpr long work_sample_bytes() {
  return []<std::size_t... S>(std::index_sequence<S...>) {
    return std::max({0L, detail::step_sample_bytes<Planned, int(S), P, Exec>()...});
  }(std::make_index_sequence<Planned::plan.size>{});
}

/// Numbers of the workspace that the steps of a training plan use one after the other, for so large
/// a batch.
template <class Planned, class P, class Exec>
long partial_count(typename Exec::space const& exec, long batch) {
  return [&]<std::size_t... S>(std::index_sequence<S...>) {
    return std::max({0L, detail::step_partial_count<Planned, int(S), P, Exec>(exec, batch)...});
  }(std::make_index_sequence<Planned::plan.size>{});
}

}  // namespace phyllo::inline PHYLLO_ISA

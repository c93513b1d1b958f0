// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/backward_piece.hpp>
#include <phyllo/backend/host/segment/run_pieces.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

template <class... D, class L, class P> struct Kernels<op::WholeStep<op::Segment<D...>, L>, P> {
  using Op = op::WholeStep<op::Segment<D...>, L>;
  using Functor = backward_piece<Op, P>;
  static constexpr KernelTraits traits = {.takes_views = true,
                                          .takes_pieces = true,
                                          .rows = WorkspaceRows::of_threads,
                                          .thread_bytes = Functor::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work, ExternalTensor const& source) {
    if (work.begin != nullptr) {
      int const workers = workers_of(exec, work.pieces, work.forward.memory.slices);
      return launch(exec, label, workers, Functor{work, source, work.pieces, workers});
    }
    run_pieces<Functor>(exec, label, work, source, work.gradients);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

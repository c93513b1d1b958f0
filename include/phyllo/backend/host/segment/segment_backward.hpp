// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/backward_piece.hpp>
#include <phyllo/backend/host/segment/run_pieces.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// options  Op: SegmentBackward or NormalizedSegmentBackward
template <class Op, class P> struct SegmentBackwardKernels {
  using Functor = backward_piece<Op, P>;
  /// The caller's View of x is read tile by tile; d_y and d_x are slots.
  static constexpr KernelTraits traits = {.takes_views = true,
                                          .rows = WorkspaceRows::of_threads,
                                          .thread_bytes = Functor::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work, ExternalTensor const& source) {
    run_pieces<Functor>(exec, label, work, source, work.gradients + work.parameter_first);
  }
};
template <class... D, class P>
  requires((!op::is_normalization<D> && ...) && !SegmentParts<op::Segment<D...>>::is_all_images)
struct Kernels<op::SegmentBackward<op::Segment<D...>>, P>
    : SegmentBackwardKernels<op::SegmentBackward<op::Segment<D...>>, P> {};
template <class... D, class P>
struct Kernels<op::NormalizedSegmentBackward<op::Segment<D...>>, P>
    : SegmentBackwardKernels<op::NormalizedSegmentBackward<op::Segment<D...>>, P> {};

}  // namespace phyllo::inline PHYLLO_ISA::host

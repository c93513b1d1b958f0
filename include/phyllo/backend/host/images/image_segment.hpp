// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_stages.hpp>
#include <phyllo/backend/host/segment/run_pieces.hpp>
#include <phyllo/backend/host/segment/segment_parts.hpp>
#include <phyllo/op/segment_backward.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// A segment of convolutions and poolings alone. One work item: pieces of the batch, in groups of
/// as many samples as a vector has lanes, from the caller's View or a slot to the slot of the
/// result.
template <class Segment, class P> struct image_segment_forward {
  using A = typename P::accumulate;
  using Images = ImageStages<typename SegmentParts<Segment>::Images, P, false>;
  static constexpr int tile_size = Images::group;
  static constexpr long thread_bytes = (Images::bytes + 63) / 64 * 64;

  typename Segment::template Forward<P> work;
  ExternalTensor source;  // (N, first in)
  int pieces = 1;
  int workers = 1;

  void operator()(int worker) const {
    Images stages(reinterpret_cast<A*>(work.memory.slice(worker)), work);
    each_piece(worker, workers, pieces, [&](int piece) {
      long const batch = work.batch, last = batch * (piece + 1) / pieces;
      for (long n = batch * piece / pieces; n < last; n += tile_size)
        stages.forward(source, n, int(last - n < tile_size ? last - n : tile_size), work.y);
    });
  }
};

/// Its backward pass: the values of a group are computed again, then its gradients.
template <class Segment, class P> struct image_segment_backward {
  using A = typename P::accumulate;
  using Images = ImageStages<typename SegmentParts<Segment>::Images, P, true, true>;
  static constexpr int tile_size = Images::group;
  static constexpr long thread_bytes = (Images::bytes + 63) / 64 * 64;

  typename op::SegmentBackward<Segment>::template Run<P> work;
  ExternalTensor source;  // (N, first in)
  int pieces = 1;
  int workers = 1;

  void operator()(int worker) const {
    A* const memory = reinterpret_cast<A*>(work.forward.memory.slice(worker));
    each_piece(worker, workers, pieces, [&](int piece) { run_piece(piece, memory); });
  }
  void run_piece(int piece, A* memory) const {
    A* const row = pieces == 1 ? work.gradients + work.parameter_first
                               : work.partial + long(piece) * work.parameter_count;
    std::memset(static_cast<void*>(row), 0, sizeof(A) * std::size_t(work.parameter_count));
    GradientTensors<A> const gradients{row, work.forward.weight, work.forward.bias,
                                       work.parameter_first};
    Images stages(memory, work.forward);
    long const batch = work.forward.batch, last = batch * (piece + 1) / pieces;
    for (long n = batch * piece / pieces; n < last; n += tile_size)
      stages.backward(work, source, n, int(last - n < tile_size ? last - n : tile_size), gradients);
    stages.finish(gradients);
  }
};

template <class... D, class P>
  requires(SegmentParts<op::Segment<D...>>::is_all_images)
struct Kernels<op::Segment<D...>, P> {
  using Functor = image_segment_forward<op::Segment<D...>, P>;
  /// The input is any View, the result a slot.
  static constexpr KernelTraits traits = {.takes_views = true,
                                          .thread_bytes = Functor::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Segment<D...>::template Forward<P> const& work,
                  ExternalTensor const& source, ExternalTensor const&) {
    if (work.batch == 0) return;
    int const pieces = pieces_of(exec, work.batch, Functor::tile_size, work.shards);
    KOKKOS_ASSERT(work.memory.slices > 0);
    int const workers = workers_of(exec, pieces, work.memory.slices);
    launch(exec, label, workers, Functor{work, source, pieces, workers});
  }
};

template <class... D, class P>
  requires(SegmentParts<op::Segment<D...>>::is_all_images)
struct Kernels<op::SegmentBackward<op::Segment<D...>>, P> {
  using Op = op::SegmentBackward<op::Segment<D...>>;
  using Functor = image_segment_backward<op::Segment<D...>, P>;
  /// The caller's View of x is read group by group; d_y and d_x are slots.
  static constexpr KernelTraits traits = {.takes_views = true,
                                          .rows = WorkspaceRows::of_threads,
                                          .thread_bytes = Functor::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work, ExternalTensor const& source) {
    run_pieces<Functor>(exec, label, work, source, work.gradients + work.parameter_first);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/bind.hpp>
#include <phyllo/model/pass.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What the passes over a plan share of its segments.
template <class Planned, class Precision, class Exec, class Communication>
struct SegmentPass : Pass<Planned, Precision, Exec, Communication> {
  using Base = Pass<Planned, Precision, Exec, Communication>;
  using typename Base::storage;

  /// Whether step S is a segment whose kernels read and write Views.
  template <int S> static constexpr bool segment_takes_views() {
    if constexpr (S < 0 || S >= Planned::plan.size)
      return false;
    else if constexpr (Planned::step(S).kind != StepKind::segment)
      return false;
    else
      return kernel_traits<typename Base::template Kernels<StepSegment<Planned, S>>>.takes_views;
  }
  /// What segment S reads: a row of numbers, or an image.
  template <int S> static constexpr Shape segment_input() {
    Shape const s = Planned::head(S).input;
    SegmentRole const role = Planned::plan.role[Planned::step(S).first];
    bool const is_row = role == SegmentRole::dense || role == SegmentRole::batch_normalization;
    return is_row ? Shape{s.size()} : s;
  }
  /// Whether segment S reads a value under other extents than it has, as an image as one row: in
  /// its slot, where the numbers are one after the other, not in the caller's View.
  template <int S>
  static constexpr bool reads_other_extents =
      !has_same_extents(segment_input<S>(), Planned::node(Planned::head(S).source[0]).output);
  /// Whether the result of segment S is an image, which its kernels write to a slot.
  template <int S> static constexpr bool writes_image() {
    constexpr int last = detail::segment_layers<Planned, S>().size - 1;
    constexpr SegmentRole role = detail::segment_layers<Planned, S>().role[last];
    return role == SegmentRole::convolution || role == SegmentRole::pooling;
  }
  /// What segment S reads: the caller's View where it may, else its slot.
  template <int S> ExternalTensor segment_source() const {
    return S == 0 && !this->placed.source.is_null() ? this->placed.source : input_slot<S>();
  }
  /// The input of segment S in its slot, as a tensor for kernels that read Views.
  template <int S> ExternalTensor input_slot() const {
    return in_slot(this->value(Planned::head(S).source[0]), segment_input<S>());
  }
  /// A value in its slot, as kernels that take Views see it.
  static ExternalTensor in_slot(storage* slot, Shape const& s) {
    ExternalTensor t;
    t.data[0] = slot;
    t.type = detail::element_type_of<storage>();
    t.sample_stride = s.size();
    t.channel_stride = 1;
    std::ptrdiff_t stride = s.channels;
    for (int d = 2; d >= 0; --d) {
      t.spatial_stride[d] = stride;
      stride *= s.spatial[d];
    }
    return t;
  }

  /// Operands of segment S, also of a whole training step.
  template <int S, class Work> void fill_segment(Work& work) const {
    constexpr detail::SegmentLayers layers = detail::segment_layers<Planned, S>();
    work.batch = this->batch;
    work.shards = Exec::shards;
    work.x = this->value(Planned::head(S).source[0]);
    work.y = this->value(Planned::result(S));
    work.parameters = this->arenas.parameters;
    work.random = {Planned::phase == Phase::training ? this->arenas.state : nullptr, 0};
    work.buffers = this->arenas.buffers;
    work.statistics = detail::segment_statistics<Planned, S>.layer;
    work.memory = this->arenas.memory;
    if constexpr (Planned::begins_with_batch_normalization(S))
      Kind<Planned::head(S).role>::template fill_segment<S>(*this, work);
    for (int l = 0; l < layers.size; ++l) {
      Node const n = Planned::node(Planned::plan.order[layers.first[l]]);
      work.weight[l] = n.parameter[0].offset;
      work.bias[l] = n.parameter[1].offset;
      work.position[l] = short(layers.first[l] + 1);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/segment_pass.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Runs the steps of a plan in order; the inputs are loaded, the outputs stay in their slots.
template <class Planned, class Precision, class Exec, class Communication>
struct ForwardPass : SegmentPass<Planned, Precision, Exec, Communication> {
  using Base = SegmentPass<Planned, Precision, Exec, Communication>;
  using typename Base::accumulate;
  using typename Base::storage;

  // The caller's only output where the last kernel writes any View itself.
  ExternalTensor target = {};

  /// Whether the first step is the only one that reads the caller's input.
  static constexpr bool takes_source = [] {
    if constexpr (!Base::template segment_takes_views<0>())
      return false;
    else
      return Planned::program::nodes.inputs == 1 && !Base::template reads_other_extents<0> &&
             is_given(Planned::node(Planned::head(0).source[0])) &&
             detail::readers(Planned::program::nodes, Planned::head(0).source[0]) == 1;
  }();
  /// Whether the last step writes the caller's output, and no step reads it.
  static constexpr bool takes_target = [] {
    constexpr int last = Planned::plan.size - 1;
    if constexpr (Planned::phase == Phase::training || !Base::template segment_takes_views<last>())
      return false;
    else if constexpr (Base::template writes_image<last>())
      return false;
    else
      return Planned::program::nodes.outputs == 1 &&
             Planned::program::nodes.output[0] == Planned::result(last) &&
             has_same_extents(Planned::program::nodes.output_shape[0],
                              Planned::node(Planned::result(last)).output) &&
             detail::readers(Planned::program::nodes, Planned::result(last)) == 1;
  }();

  void run_all() const {
    [this]<std::size_t... S>(std::index_sequence<S...>) {
      (this->template step<int(S)>(), ...);
    }(std::make_index_sequence<Planned::plan.size>{});
  }
  template <int S> void step() const {
    if constexpr (Planned::step(S).kind == StepKind::segment)
      segment<S>();
    else
      Kind<Planned::head(S).role>::template forward<S>(*this);
  }

 private:
  template <int S> void segment() const {
    using Op = StepSegment<Planned, S>;
    if constexpr (Planned::begins_with_batch_normalization(S))
      Kind<Planned::head(S).role>::template before_segment<S>(*this);
    typename Op::template Forward<Precision> work;
    this->template fill_segment<S>(work);
    if constexpr (Base::template segment_takes_views<S>()) {
      using All = typename Base::template Kernels<Op>;
      bool const to_caller = S + 1 == Planned::plan.size && takes_target && !target.is_null();
      All::run(
          this->exec, this->labels[std::size_t(S)], work, this->template segment_source<S>(),
          to_caller ? target : Base::in_slot(work.y, Planned::node(Planned::result(S)).output));
    } else {
      this->template run<Op>(S, work);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

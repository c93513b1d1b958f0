// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/copy.hpp>
#include <phyllo/op/normalization.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The statistics of one batch normalisation, in the model's arena of them.
template <class Accumulate> struct NormalizationStatistics {
  static constexpr int count(int channels) { return 7 * channels; }

  Accumulate* mean = nullptr;               // (C)
  Accumulate* inverse_deviation = nullptr;  // (C)
  Accumulate* square_sums = nullptr;        // (C)
  Accumulate* gradient_sums = nullptr;      // (2 C)
  Accumulate* mean_sums = nullptr;          // (C + 1)

  NormalizationStatistics(Accumulate* begin, int channels)
      : mean(begin),
        inverse_deviation(mean + channels),
        square_sums(inverse_deviation + channels),
        gradient_sums(square_sums + channels),
        mean_sums(gradient_sums + 2 * channels) {}
};

/// Batch normalisation: statistics over the batch per channel.
template <> struct Kind<Role::normalization> {
  static constexpr KindFacts facts{.recomputes_chain = true,
                                   .rereads_sources = true,
                                   .is_cheap = true,
                                   .waits_for_batch = true,
                                   .segment = SegmentPart::normalization};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    int const channels = n.input.channels;
    if (L::affine) {
      n.parameter[0] = ParameterTensor::vector("weight", channels, Initial::one);
      n.parameter[0].gives_source_gradient = true;
      n.parameter[1] = ParameterTensor::vector("bias", channels, Initial::zero);
    }
    n.buffer_tensor[0] = {"running_mean", channels, 0};
    n.buffer_tensor[1] = {"running_var", channels, 1};
    n.batch_state_count = NormalizationStatistics<float>::count(channels);
    n.partial_count = 2 * channels * op::Normalization<op::Chain<>>::row_blocks;
    n.global_statistics = L::global_statistics;
    n.momentum = L::momentum;
    n.epsilon = L::epsilon;
    n.flops = 2L * n.output.size();
  }

  template <class Planned, int S> using Op = op::Normalization<typename Planned::template Chain<S>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    using accumulate = typename P::accumulate;
    constexpr Node n = Planned::head(S);
    constexpr int channels = n.input.channels, positions = n.input.positions();
    float* const running_mean = pass.arenas.buffers + n.buffer;
    typename Op<Planned, S>::template Forward<P> work;
    work.x = pass.value(n.source[0]);
    work.running_mean = running_mean;
    work.running_variance = running_mean + channels;
    if constexpr (Planned::phase == Phase::training) {
      NormalizationStatistics<accumulate> const s(pass.batch_state(n), channels);
      if (!pass.backwards) measure<S, Op<Planned, S>>(pass, s);  // else they are kept
      work.mean = s.mean;
      work.inverse_deviation = s.inverse_deviation;
    }
    work.batch = pass.batch;
    work.positions = positions;
    work.channels = channels;
    work.scale = pass.parameter(n.parameter[0]);
    work.shift = pass.parameter(n.parameter[1]);
    work.epsilon = accumulate(n.epsilon);
    if constexpr (Planned::adds(S)) work.added = pass.value(Planned::liveness.source(S, 1));
    work.y = pass.value(Planned::result(S));
    work.random = pass.template randomness<S>();
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    constexpr bool adds = Planned::adds(S);
    bool const wants_added = adds && pass.template wants<S>(int(adds));
    bool const wants_source = pass.template wants<S>(0);
    if (!wants_source && !wants_added && n.parameter_count() == 0) return;
    NormalizationStatistics<typename P::accumulate> const s(pass.batch_state(n), n.input.channels);
    typename Op<Planned, S>::template BackwardSums<P> sums;
    sums.batch = pass.batch;
    sums.positions = n.input.positions();
    sums.channels = n.input.channels;
    sums.x = pass.value(n.source[0]);
    sums.d_y = pass.template result_gradient<S>();
    sums.scale = pass.parameter(n.parameter[0]);
    sums.shift = pass.parameter(n.parameter[1]);
    sums.mean = s.mean;
    sums.inverse_deviation = s.inverse_deviation;
    sums.partial = pass.arenas.partial;
    sums.sums = s.gradient_sums;
    sums.d_scale = pass.parameter_gradient(n.parameter[0]);
    sums.d_shift = pass.parameter_gradient(n.parameter[1]);
    sums.random = pass.template randomness<S>();
    if constexpr (adds) {
      if constexpr (Planned::liveness.rereads_result(S))
        sums.y = pass.value(Planned::result(S));
      else if constexpr (Planned::liveness.rereads_source(S, 1))
        sums.added = pass.value(Planned::liveness.source(S, 1));
    }
    pass.template run<Op<Planned, S>>(S, sums);
    if (n.global_statistics)
      pass.communication.sum(pass.exec, s.gradient_sums, 2L * n.input.channels);
    if (!wants_source && !wants_added) return;
    typename Op<Planned, S>::template Backward<P> work;
    work.batch = pass.batch;
    work.positions = sums.positions;
    work.channels = sums.channels;
    work.x = sums.x;
    work.d_y = sums.d_y;
    work.scale = sums.scale;
    work.shift = sums.shift;
    work.mean = s.mean;
    work.inverse_deviation = s.inverse_deviation;
    work.sums = s.gradient_sums;
    work.mean_sums = s.mean_sums;
    work.added = sums.added;
    work.y = sums.y;
    if (wants_source) work.d_x = pass.gradient(n.source[0]);
    work.accumulate_gradient = Planned::liveness.accumulates(S, 0);
    if constexpr (adds) {
      if (wants_added) work.d_added = pass.gradient(Planned::liveness.source(S, 1));
      work.accumulate_added = Planned::liveness.accumulates(S, 1);
    }
    work.random = sums.random;
    pass.template run<Op<Planned, S>>(S, work);
  }

  /// As the first layer of a segment in training: the statistics of the batch, before its kernel
  /// runs, and what that reads of them.
  template <int S, class Pass> static void before_segment(Pass const& pass) {
    using accumulate = typename Pass::precision::accumulate;
    constexpr Node n = Pass::plan::head(S);
    NormalizationStatistics<accumulate> const s(pass.batch_state(n), n.input.channels);
    if (!pass.backwards) measure<S, op::Normalization<op::Chain<>>>(pass, s);
  }
  template <int S, class Pass, class Work> static void fill_segment(Pass const& pass, Work& work) {
    using accumulate = typename Pass::precision::accumulate;
    constexpr Node n = Pass::plan::head(S);
    NormalizationStatistics<accumulate> const s(pass.batch_state(n), n.input.channels);
    work.mean = s.mean;
    work.inverse_deviation = s.inverse_deviation;
  }
  /// What the segment before reads backwards, whose result segment S normalises.
  template <int S, class Pass, class Work> static void fill_gradient(Pass const& pass, Work& work) {
    constexpr Node n = Pass::plan::head(S);
    fill_segment<S>(pass, work);
    work.y = pass.value(n.source[0]);
    work.scale = pass.parameter(n.parameter[0]);
    NormalizationStatistics<typename Pass::precision::accumulate> const s(pass.batch_state(n),
                                                                          n.input.channels);
    work.sums = s.gradient_sums;
  }
  /// Backwards segment S has left the gradient behind the normalisation in the slot of that of its
  /// source, and the sums over it as the gradients of shift and scale. From here on these may be
  /// summed over the ranks, so that the others need a copy.
  template <int S, class Pass> static void behind_segment(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    using accumulate = typename P::accumulate;
    static_assert(std::is_same_v<typename P::storage, accumulate>);
    constexpr Node n = Planned::head(S);
    constexpr int channels = n.input.channels;
    NormalizationStatistics<accumulate> const s(pass.batch_state(n), channels);
    op::Copy::Forward<P> sums;
    sums.rows = 1;
    sums.channels = sums.x_channels = channels;
    sums.y_channels = 2 * channels;
    sums.y = s.gradient_sums;
    sums.x = pass.parameter_gradient(n.parameter[1]);
    pass.template run<op::Copy>(S, sums);
    sums.x = pass.parameter_gradient(n.parameter[0]);
    sums.to = channels;
    pass.template run<op::Copy>(S, sums);
    constexpr int before = Planned::liveness.producer(n.source[0]);
    if constexpr (before >= 0)
      if constexpr (Planned::liveness.normalized_by(before) == S) return;
    using Plain = op::Normalization<op::Chain<>>;
    typename Plain::template Backward<P> work;
    work.batch = pass.batch;
    work.positions = 1;
    work.channels = channels;
    work.x = pass.value(n.source[0]);
    work.d_x = pass.gradient(n.source[0]);
    work.d_y = work.d_x;
    work.scale = pass.parameter(n.parameter[0]);
    work.shift = pass.parameter(n.parameter[1]);
    work.mean = s.mean;
    work.inverse_deviation = s.inverse_deviation;
    work.sums = s.gradient_sums;
    work.mean_sums = s.mean_sums;
    pass.template run<Plain>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    step.write(i, step.normalized(typename Step::T(step.template source<0>()[i]), i % Step::O));
  }
  template <class Step> static void in_cells(Step const& step) {
    for (int c = 0; c < Step::O; ++c) {
      step.copy(step.template source<0>() + c * Step::cells, c);
      step.normalize(step.result() + c * Step::cells, c);
    }
    step.finish(0, Step::O);
  }

 private:
  // Mean and deviation of the batch, and the running ones.
  template <int S, class By, class Pass, class Statistics>
  static void measure(Pass const& pass, Statistics const& s) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    constexpr int channels = n.input.channels;
    float* const running_mean = pass.arenas.buffers + n.buffer;
    typename By::template Sum<P> sum;
    sum.batch = pass.batch;
    sum.positions = n.input.positions();
    sum.channels = channels;
    sum.x = pass.value(n.source[0]);
    sum.partial = pass.arenas.partial;
    sum.sums = s.mean_sums;
    pass.template run<By>(S, sum);
    if (n.global_statistics) pass.communication.sum(pass.exec, s.mean_sums, long(channels) + 1);
    sum.mean_sums = s.mean_sums;
    sum.sums = s.square_sums;
    pass.template run<By>(S, sum);
    if (n.global_statistics) pass.communication.sum(pass.exec, s.square_sums, long(channels));
    typename By::template Finish<P> finish;
    finish.channels = channels;
    finish.mean_sums = s.mean_sums;
    finish.square_sums = s.square_sums;
    finish.mean = s.mean;
    finish.inverse_deviation = s.inverse_deviation;
    finish.running_mean = running_mean;
    finish.running_variance = running_mean + channels;
    finish.momentum = typename P::accumulate(n.momentum);
    finish.epsilon = typename P::accumulate(n.epsilon);
    pass.template run<By>(S, finish);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/bind.hpp>
#include <phyllo/model/pass.hpp>
#include <phyllo/op/add.hpp>
#include <phyllo/op/contraction.hpp>
#include <phyllo/op/normalization.hpp>
#include <phyllo/op/pointwise.hpp>
#include <phyllo/op/pooling.hpp>
#include <phyllo/op/softmax.hpp>
#include <phyllo/op/transpose.hpp>
#include <phyllo/op/upsample.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Runs the steps of a plan in order; the inputs are loaded, the outputs stay in their slots.
template <class Planned, class Precision, class Exec, class Communication>
struct ForwardPass : Pass<Planned, Precision, Exec, Communication> {
  using Base = Pass<Planned, Precision, Exec, Communication>;
  using typename Base::accumulate;
  using typename Base::storage;

  // The caller's only input and output where the first and the last kernel take Views themselves.
  ExternalTensor source = {};
  ExternalTensor target = {};

  /// Whether step S is a segment whose kernels read and write Views.
  template <int S> static constexpr bool segment_takes_views() {
    if constexpr (S < 0 || S >= Planned::plan.size)
      return false;
    else if constexpr (Planned::step(S).kind != StepKind::segment)
      return false;
    else
      return takes_views<typename Base::template Kernels<StepSegment<Planned, S>>>;
  }
  /// Whether segment S reads an image as one row of numbers: in its slot, where the numbers are one
  /// after the other, not in the caller's View.
  template <int S>
  static constexpr bool reads_image_as_row =
      Planned::plan.role[Planned::step(S).first] == SegmentRole::dense &&
      Planned::head(S).input.positions() > 1;
  /// The input of segment S in its slot, as a tensor for kernels that read Views.
  template <int S> ExternalTensor input_slot() const {
    constexpr Shape s = Planned::head(S).input;
    return in_slot(this->value(Planned::head(S).source[0]),
                   reads_image_as_row<S> ? Shape{s.size()} : s);
  }
  /// Whether the first step is the only one that reads the caller's input.
  static constexpr bool takes_source = [] {
    if constexpr (!segment_takes_views<0>())
      return false;
    else
      return Planned::program::nodes.inputs == 1 && !reads_image_as_row<0> &&
             Planned::node(Planned::head(0).source[0]).role == Role::input &&
             detail::readers(Planned::program::nodes, Planned::head(0).source[0]) == 1;
  }();
  /// Whether the last step writes the caller's output, and no step reads it.
  static constexpr bool takes_target = [] {
    constexpr int last = Planned::plan.size - 1;
    if constexpr (!segment_takes_views<last>())
      return false;
    else
      return Planned::program::nodes.outputs == 1 &&
             Planned::program::nodes.output[0] == Planned::result(last) &&
             detail::readers(Planned::program::nodes, Planned::result(last)) == 1;
  }();

  void run_all() const {
    [this]<std::size_t... S>(std::index_sequence<S...>) {
      (this->template step<int(S)>(), ...);
    }(std::make_index_sequence<Planned::plan.size>{});
  }

 private:
  template <int S> void step() const {
    constexpr Node head = Planned::head(S);
    if constexpr (Planned::step(S).kind == StepKind::segment)
      segment<S>();
    else if constexpr (head.role == Role::contraction)
      contraction<S>();
    else if constexpr (head.role == Role::normalization)
      normalization<S>();
    else if constexpr (head.role == Role::pointwise)
      pointwise<S>();
    else if constexpr (head.role == Role::add)
      add<S>();
    else if constexpr (head.role == Role::pooling)
      pooling<S>();
    else if constexpr (head.role == Role::resample)
      resample<S>();
    else if constexpr (head.role == Role::softmax)
      softmax<S>();
    else if constexpr (head.role == Role::reshape)
      reshape<S>();
    else
      concatenation<S>();
  }

  template <int S> void contraction() const {
    using Op = op::Contraction<StepChain<Planned, S>>;
    constexpr Node n = Planned::head(S);
    typename Op::template Forward<Precision> work;
    work.batch = this->batch;
    work.input = n.input;
    work.output = n.output;
    work.window = n.window;
    work.x = this->value(n.source[0]);
    work.weight = this->parameter(n.weight);
    work.bias = this->parameter(n.bias);
    if constexpr (Planned::step(S).kind == StepKind::folded_contraction) {
      constexpr Node norm = Planned::node(Planned::plan.order[Planned::step(S).first + 1]);
      work.fold = {this->arenas.buffers + norm.buffer,
                   this->arenas.buffers + norm.buffer + norm.input.channels,
                   this->parameter(norm.weight), this->parameter(norm.bias),
                   accumulate(norm.epsilon)};
    }
    work.y = this->value(Planned::result(S));
    work.saved = this->saved(S);
    work.random = this->template randomness<S>();
    work.same_in_any_batch = Exec::shards > 0;
    work.memory = this->arenas.memory;
    this->template run<Op>(S, work);
  }

  template <int S> void normalization() const {
    using Op = op::Normalization<StepChain<Planned, S>>;
    constexpr Node n = Planned::head(S);
    constexpr int channels = n.input.channels, positions = n.input.positions();
    storage const* x = this->value(n.source[0]);
    float* const running_mean = this->arenas.buffers + n.buffer;
    float* const running_variance = running_mean + channels;
    typename Op::template Forward<Precision> work;
    if constexpr (Planned::phase == Phase::training) {
      auto const s = this->statistics(n);
      typename Op::template Sum<Precision> sum;
      sum.batch = this->batch;
      sum.positions = positions;
      sum.channels = channels;
      sum.x = x;
      sum.partial = this->arenas.partial;
      sum.sums = s.mean_sums;
      this->template run<Op>(S, sum);
      if (n.global_statistics) this->communication.sum(this->exec, s.mean_sums, long(channels) + 1);
      sum.mean_sums = s.mean_sums;
      sum.sums = s.square_sums;
      this->template run<Op>(S, sum);
      if (n.global_statistics) this->communication.sum(this->exec, s.square_sums, long(channels));
      typename Op::template Finish<Precision> finish;
      finish.channels = channels;
      finish.mean_sums = s.mean_sums;
      finish.square_sums = s.square_sums;
      finish.mean = s.mean;
      finish.inverse_deviation = s.inverse_deviation;
      finish.running_mean = running_mean;
      finish.running_variance = running_variance;
      finish.momentum = accumulate(n.momentum);
      finish.epsilon = accumulate(n.epsilon);
      this->template run<Op>(S, finish);
      work.mean = s.mean;
      work.inverse_deviation = s.inverse_deviation;
    }
    work.batch = this->batch;
    work.positions = positions;
    work.channels = channels;
    work.x = x;
    work.scale = this->parameter(n.weight);
    work.shift = this->parameter(n.bias);
    work.running_mean = running_mean;
    work.running_variance = running_variance;
    work.epsilon = accumulate(n.epsilon);
    if constexpr (Planned::step(S).kind == StepKind::normalization_add)
      work.added = this->value(Planned::liveness.source(S, 1));
    work.y = this->value(Planned::result(S));
    work.random = this->template randomness<S>();
    this->template run<Op>(S, work);
  }

  template <int S> void pointwise() const {
    using Op = op::Pointwise<StepChain<Planned, S>>;
    constexpr Node n = Planned::head(S);
    this->template run<Op>(S, typename Op::template Forward<Precision>{
                                  this->batch, n.input.size(), this->value(n.source[0]),
                                  this->value(Planned::result(S)), this->template randomness<S>()});
  }

  template <int S> void add() const {
    using Op = op::Add<StepChain<Planned, S>>;
    constexpr Node n = Planned::head(S);
    this->template run<Op>(
        S, typename Op::template Forward<Precision>{
               this->batch, n.input.size(), this->value(n.source[0]), this->value(n.source[1]),
               this->value(Planned::result(S)), this->saved(S), this->template randomness<S>()});
  }

  template <int S> void pooling() const {
    constexpr Node n = Planned::head(S);
    using Op =
        op::Pooling<At<typename Planned::leaves, Planned::plan.head(Planned::step(S))>::kind>;
    this->template run<Op>(S, typename Op::template Forward<Precision>{
                                  this->batch, n.input, n.output, n.window,
                                  this->value(n.source[0]), this->value(Planned::result(S))});
  }

  template <int S> void resample() const {
    constexpr Node n = Planned::head(S);
    this->template run<op::Upsample>(
        S,
        op::Upsample::Forward<Precision>{this->batch, n.input, n.output, this->value(n.source[0]),
                                         this->value(Planned::result(S))});
  }

  template <int S> void softmax() const {
    constexpr Node n = Planned::head(S);
    this->template run<op::Softmax>(
        S,
        op::Softmax::Forward<Precision>{long(this->batch) * n.input.positions(), n.input.channels,
                                        this->value(n.source[0]), this->value(Planned::result(S))});
  }

  template <int S> void reshape() const {
    constexpr Node n = Planned::head(S);
    this->template run<op::Transpose>(
        S, op::Transpose::Forward<Precision>{this->batch, n.input.positions(), n.input.channels,
                                             this->value(n.source[0]),
                                             this->value(Planned::result(S)), false});
  }

  template <int S> void concatenation() const {
    constexpr Node n = Planned::head(S);
    int to = 0;
    for (int i = 0; i < n.sources; ++i) {
      int const channels = Planned::node(n.source[i]).output.channels;
      this->template run<op::Copy>(
          S, op::Copy::Forward<Precision>{
                 long(this->batch) * n.output.positions(), channels, channels, 0, n.output.channels,
                 to, this->value(n.source[i]), this->value(Planned::result(S)), false});
      to += channels;
    }
  }

  template <int S> void segment() const {
    using Op = StepSegment<Planned, S>;
    typename Op::template Forward<Precision> work;
    fill_segment<S>(work);
    if constexpr (segment_takes_views<S>()) {
      using All = typename Base::template Kernels<Op>;
      bool const from_caller = S == 0 && takes_source && !source.is_null();
      bool const to_caller = S + 1 == Planned::plan.size && takes_target && !target.is_null();
      All::run(this->exec, this->labels[std::size_t(S)], work,
               from_caller ? source : input_slot<S>(),
               to_caller ? target : in_slot(work.y, Planned::node(Planned::result(S)).output));
    } else {
      this->template run<Op>(S, work);
    }
  }
  // A value in its slot, as kernels that take Views see it.
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

 public:
  /// Operands of segment S, also for a whole training step, which has no plan of its own for them.
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
    for (int l = 0; l < layers.size; ++l) {
      Node const n = Planned::node(Planned::plan.order[layers.first[l]]);
      work.weight[l] = n.weight;
      work.bias[l] = n.bias;
      work.position[l] = short(layers.first[l] + 1);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/planned.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What a step has to compute and to move at least, whichever backend runs it; in training the
/// forward and the backward half together.
struct StepCost {
  long flops = 0;            // of one sample; a multiply-add counts two
  long bytes = 0;            // of one sample: values and their gradients, read and written
  long parameter_bytes = 0;  // once for a batch: parameters read, their gradients written

  constexpr StepCost& operator+=(StepCost const& other) {
    flops += other.flops;
    bytes += other.bytes;
    parameter_bytes += other.parameter_bytes;
    return *this;
  }
  /// Operations for each byte that one sample moves.
  constexpr double intensity() const { return bytes == 0 ? 0 : double(flops) / double(bytes); }
};

namespace detail {

// A contraction backwards is a second one for its parameters, and a third one for its source where
// that is not the caller's input. The derivatives of all other layers are left out: beside a
// contraction they are few, and by themselves they wait for their bytes.
constexpr long backward_flops(Node const& n, bool source_gradient) {
  return n.parameter_gradient_flops + (source_gradient ? n.source_gradient_flops : 0);
}

}  // namespace detail

/// The cost of step s of a plan. Sizes in bytes: of an element of a value or parameter, and of a
/// gradient of a parameter.
template <class Planned> constexpr StepCost step_cost(int s, int element, int gradient) {
  auto const& life = Planned::liveness;
  Step const step = Planned::step(s);
  Node const head = Planned::head(s);
  int const result = Planned::result(s);
  long const out = Planned::node(result).output.size();
  StepCost cost;
  long parameters = 0;
  for (int k = step.first; k < step.first + step.count; ++k) {
    Node const n = Planned::node(Planned::plan.order[k]);
    cost.flops += n.flops;
    parameters += n.parameter_count();
  }
  long values = out + (life.saves(s) ? out : 0);
  for (int i = 0; i < life.sources(s); ++i)
    if (!life.reads_before(s, i)) values += Planned::node(life.source(s, i)).output.size();
  cost.parameter_bytes = parameters * element;
  if (life.again[s]) {
    cost.flops *= 2;
    values *= 2;
    cost.parameter_bytes *= 2;
  }
  if (Planned::phase == Phase::training && life.has_gradient[result]) {
    bool source_gradient = false;
    for (int i = 0; i < life.sources(s); ++i) {
      if (life.reads_before(s, i)) continue;
      Node const source = Planned::node(life.source(s, i));
      if (life.rereads_source(s, i)) values += source.output.size();
      if (is_given(source)) continue;
      source_gradient = true;
      values += (life.accumulates(s, i) ? 2 : 1) * long(source.output.size());
    }
    values += out + (life.rereads_result(s) || life.saves(s) ? out : 0);
    cost.flops += detail::backward_flops(head, source_gradient);
    // Behind the first layer of a segment every source has a gradient.
    for (int k = step.first + 1; k < step.first + step.count; ++k)
      cost.flops += detail::backward_flops(Planned::node(Planned::plan.order[k]), true);
    cost.parameter_bytes += parameters * gradient;
    for (int k = step.first; k < step.first + step.count; ++k) {
      Node const node = Planned::node(Planned::plan.order[k]);  // as in step_parameters
      for (ParameterTensor const& t : node.parameter)
        if ((source_gradient || k > step.first) && t.gives_source_gradient)
          cost.parameter_bytes += long(t.count) * element;
    }
  }
  cost.bytes = values * element;
  return cost;
}

template <class Planned> constexpr StepCost plan_cost(int element, int gradient) {
  StepCost cost;
  for (int s = 0; s < Planned::plan.size; ++s) cost += step_cost<Planned>(s, element, gradient);
  return cost;
}

/// The cost of a training step that is one pass: of the values only the inputs are moved.
template <class Program> constexpr StepCost whole_step_cost(int element, int gradient) {
  StepCost cost;
  cost.flops = Program::nodes.flops;
  for (Node const& n : Program::nodes.node) {
    if (is_given(n))
      cost.bytes += long(n.output.size()) * element;
    else
      cost.flops += detail::backward_flops(n, !is_given(Program::nodes.node[n.source[0]]));
  }
  cost.parameter_bytes = long(Program::nodes.parameter_count) * (element + gradient);
  return cost;
}

/// What a machine can do at most, all threads together: the ceilings that `perf/run` measures.
struct Roofline {
  double flops = 0;          // FLOP/s of the fastest unit for the precision
  double memory = 0;         // byte/s
  double cache = 0;          // byte/s of what the caches keep
  double cache_bytes = 0;    // how much that is; 0: everything comes from memory
  char const* unit = "fma";  // name of the fastest unit
};

/// The shortest time that the ceilings allow, and the ceiling that sets it.
struct Floor {
  double seconds = 0;
  char const* ceiling = "";
};
constexpr Floor floor_of(StepCost const& cost, Roofline const& roofline, long batch) {
  double const compute = double(cost.flops) * double(batch) / roofline.flops;
  double const bytes = double(cost.bytes) * double(batch) + double(cost.parameter_bytes);
  bool const kept = bytes <= roofline.cache_bytes;
  double const transfer = bytes / (kept ? roofline.cache : roofline.memory);
  return transfer > compute ? Floor{transfer, kept ? "cache" : "memory"}
                            : Floor{compute, roofline.unit};
}

}  // namespace phyllo::inline PHYLLO_ISA

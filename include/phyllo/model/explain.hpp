// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/type_name.hpp>
#include <phyllo/fusion/cost.hpp>
#include <phyllo/model/execution.hpp>
#include <phyllo/model/explain_fusion.hpp>
#include <phyllo/model/network_plan.hpp>
#include <phyllo/model/step_op.hpp>
#include <phyllo/model/whole_step.hpp>
#include <phyllo/policy/precision.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Program> std::string explain_layers() {
  std::string text =
      line("  %3s  %-52s %-12s %12s %14s\n", "", "layer", "output", "parameters", "flop/sample");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((text += line("  %3d  %-52s %-12s %12s %14s\n", int(I),
                   type_name<At<typename Program::leaves, I>>().c_str(),
                   shape_text(Program::nodes.node[I].output).c_str(),
                   grouped(Program::nodes.node[I].parameter_count()).c_str(),
                   grouped(Program::nodes.node[I].flops).c_str())),
     ...);
  }(std::make_index_sequence<Program::size>{});
  return text;
}

// The columns of a cost, and of its floor where ceilings are given.
inline std::string cost_columns(StepCost const& cost, Roofline const* roofline, long batch) {
  std::string text =
      line("%11s %12s %9.1f %15s", grouped(cost.flops).c_str(), grouped(cost.bytes).c_str(),
           cost.intensity(), grouped(cost.parameter_bytes).c_str());
  if (roofline != nullptr) {
    Floor const floor = floor_of(cost, *roofline, batch);
    text += line(" %9s %-6s", microseconds(floor.seconds).c_str(), floor.ceiling);
  }
  return text;
}

inline std::string plan_heading(Roofline const* roofline) {
  std::string text = line("  %3s  %-26s %-10s %11s %12s %9s %15s", "", "step", "output",
                          "flop/sample", "bytes/sample", "flop/byte", "parameter bytes");
  if (roofline != nullptr) text += line(" %9s %-6s", "floor us", "by");
  return text + line("  %-9s %s\n", "backend", "fused by");
}

template <class Planned, int S> std::string step_text() {
  constexpr Step s = Planned::step(S);
  std::string nodes;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((nodes += (nodes.empty() ? "" : "+"),
      nodes += At<typename Planned::leaves, Planned::plan.order[s.first + K]>::name),
     ...);
  }(std::make_index_sequence<s.count>{});
  return nodes.size() > 26 ? nodes.substr(0, 23) + "..." : nodes;
}

template <class Planned, int S, class P, class Exec>
std::string explain_step(Roofline const* roofline, long batch) {
  constexpr StepCost cost =
      step_cost<Planned>(S, int(sizeof(typename P::storage)), int(sizeof(typename P::accumulate)));
  using Backend = SelectedBackend<StepOp<Planned, S>, P, typename Exec::backends>;
  char const* const rule = fused_text(Planned::step(S), Planned::plan.role[Planned::step(S).first]);
  return line("  %3d  %-26s %-10s ", S, step_text<Planned, S>().c_str(),
              shape_text(Planned::node(Planned::result(S)).output).c_str()) +
         cost_columns(cost, roofline, batch) +
         (*rule == '\0' ? line("  %s\n", Backend::name)
                        : line("  %-9s %s\n", Backend::name, rule)) +
         end_text(Planned::step(S), Planned::limits.backend, end_name<Planned, S>()) +
         (Planned::liveness.again[S] ? line("  %3s  computed again in the backward pass\n", "")
                                     : "");
}

template <class Planned, class P, class Exec>
std::string explain_plan(char const* title, Roofline const* roofline, long batch) {
  std::string text = line(
      "%s: %d layers with work in %d steps; activations %s bytes a sample (%s "
      "without reuse)",
      title, Planned::plan.nodes, Planned::plan.size, grouped(Planned::memory.bytes).c_str(),
      grouped(Planned::memory.bytes_without_reuse).c_str());
  if constexpr (Planned::phase == Phase::training)
    text += ", kept for the backward pass " + grouped(Planned::memory.bytes_kept);
  text += "\n";
  text += plan_heading(roofline);
  [&]<std::size_t... S>(std::index_sequence<S...>) {
    ((text += explain_step<Planned, int(S), P, Exec>(roofline, batch)), ...);
  }(std::make_index_sequence<Planned::plan.size>{});
  return text;
}

/// The vectors of kernels on processors, and the remedy where the compiler's flags waste them.
inline std::string vectors_text() {
  if constexpr (PHYLLO_VECTOR_BYTES == 0) return "";
  std::string text = line("vectors: %d bytes (%s)", PHYLLO_VECTOR_BYTES, PHYLLO_TEXT(PHYLLO_ISA));
  if constexpr (PHYLLO_HAS_NARROW_VECTORS)
    text +=
        ". Most processors of this kind have 32 or more, and kernels run up to 5 times faster "
        "there: compile with -march=native, or use a Kokkos built with -DKokkos_ARCH_NATIVE=ON";
  return text + "\n";
}

template <class Net, class P, class Exec>
std::string explain_text(Roofline const* roofline, long batch) {
  using program = typename Net::program;
  constexpr int element = int(sizeof(typename P::storage));
  using Inference = NetworkPlan<Net, Phase::inference, P, Exec>;
  using Training = NetworkPlan<Net, Phase::training, P, Exec>;
  std::string text = type_name<Net>() + ": " + shape_text(Net::input) + " -> " +
                     shape_text(Net::output) + ", " + grouped(Net::parameter_count) +
                     " parameters, " + grouped(Net::flops) + " flop a sample\n";
  text += explain_layers<program>();
  text += explain_plan<Inference, P, Exec>("inference", roofline, batch);
  text += explain_plan<Training, P, Exec>("training", roofline, batch);
  if constexpr (runs_whole_steps<Net, P, Exec>()) {
    text +=
        "training with one loss: forward, loss, backward and all gradients in one pass; there is "
        "nothing to overlap communication with\n";
    text += line("  %3s  %-26s %-10s ", "", "whole step", "") +
            cost_columns(whole_step_cost<program>(element, int(sizeof(typename P::accumulate))),
                         roofline, batch) +
            "\n";
  }
  return text + vectors_text();
}

}  // namespace detail

/// The plan of a network as text: layers, shapes, parameters, operations, and the steps that it
/// runs as. For each step: the operations and bytes that it needs at least, the backend that runs
/// it, the rule that fused it and, below, what ended the fusion. The last line is the vector width
/// that this translation unit is compiled for.
///
/// options  Net · P: precision, for the bytes · Exec: for fusion and backends
/// cost     built once, at the first call
template <class Net, Precision P = Full<float>, class Exec = Execution<>> char const* explain() {
  static std::string const text = detail::explain_text<Net, P, Exec>(nullptr, 0);
  return text.c_str();
}

/// The same with the shortest time that a machine allows each step on a batch, and the ceiling that
/// sets it.
///
/// units    ceilings in FLOP/s, byte/s and bytes; floors in microseconds
template <class Net, Precision P = Full<float>, class Exec = Execution<>>
std::string explain(Roofline const& roofline, long batch) {
  return detail::explain_text<Net, P, Exec>(&roofline, batch);
}

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/type_name.hpp>
#include <phyllo/model/execution.hpp>
#include <phyllo/model/step_op.hpp>
#include <phyllo/policy/precision.hpp>

#include <cstdio>
#include <string>

namespace phyllo {

namespace detail {

inline std::string shape_text(Shape const& s) {
  std::string text;
  for (int i = 0; i <= s.rank; ++i) text += (i > 0 ? "x" : "") + std::to_string(s.extent(i));
  return text;
}

// 61706 -> "61,706"
inline std::string grouped(long number) {
  std::string text = std::to_string(number);
  for (int at = int(text.size()) - 3; at > 0; at -= 3) text.insert(std::size_t(at), ",");
  return text;
}

template <class... Arguments> std::string line(char const* format, Arguments const&... arguments) {
  char text[512];
  std::snprintf(text, sizeof(text), format, arguments...);
  return text;
}

inline char const* fused_text(Step const& s) {
  if (s.fused == Fused::segment) return segment_rule.name;
  return s.rule < 0 ? "" : rules[s.rule].name;
}

template <class Program> std::string explain_layers() {
  std::string text =
      line("  %3s  %-52s %-12s %12s %14s\n", "", "layer", "output", "parameters", "flop/sample");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((text +=
      line("  %3d  %-52s %-12s %12s %14s\n", int(I),
           type_name<At<typename Program::leaves, I>>().c_str(),
           shape_text(Program::nodes.node[I].output).c_str(),
           grouped(Program::nodes.node[I].weight_count + Program::nodes.node[I].bias_count).c_str(),
           grouped(Program::nodes.node[I].flops).c_str())),
     ...);
  }(std::make_index_sequence<Program::size>{});
  return text;
}

template <class Planned, int S, class P, class Exec> std::string explain_step() {
  constexpr Step s = Planned::step(S);
  std::string nodes;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((nodes += (nodes.empty() ? "" : "+"),
      nodes += At<typename Planned::leaves, Planned::plan.order[s.first + K]>::name),
     ...);
  }(std::make_index_sequence<s.count>{});
  if (nodes.size() > 52) nodes = nodes.substr(0, 49) + "...";
  using Backend = SelectedBackend<StepOp<Planned, S>, P, typename Exec::backends>;
  return line("  %3d  %-52s %-12s %-26s %s\n", S, nodes.c_str(),
              shape_text(Planned::node(Planned::result(S)).output).c_str(), fused_text(s),
              Backend::name);
}

template <class Planned, class P, class Exec> std::string explain_plan(char const* title) {
  std::string text = line(
      "%s: %d layers with work in %d steps; activations %s bytes a sample (%s "
      "without reuse)\n",
      title, Planned::plan.nodes, Planned::plan.size, grouped(Planned::memory.bytes).c_str(),
      grouped(Planned::memory.bytes_without_reuse).c_str());
  text += line("  %3s  %-52s %-12s %-26s %s\n", "", "step", "output", "fused by", "backend");
  [&]<std::size_t... S>(std::index_sequence<S...>) {
    ((text += explain_step<Planned, int(S), P, Exec>()), ...);
  }(std::make_index_sequence<Planned::plan.size>{});
  return text;
}

}  // namespace detail

/// The plan of a network as text: layers, shapes, parameters, operations, and the steps that it
/// runs as, with the rule that fused them, the backend that runs them and their memory.
///
/// options  Net · P: precision, for the bytes · Exec: for fusion and backends
/// cost     built once, at the first call
template <class Net, Precision P = Full<float>, class Exec = Execution<>> char const* explain() {
  using program = typename Net::program;
  static std::string const text = [] {
    constexpr int size = int(sizeof(typename P::storage));
    using Inference = Planned<Net, Phase::inference, Exec::fusion, size>;
    using Training = Planned<Net, Phase::training, Exec::fusion, size>;
    std::string t = type_name<Net>() + ": " + detail::shape_text(Net::input) + " -> " +
                    detail::shape_text(Net::output) + ", " + detail::grouped(Net::parameter_count) +
                    " parameters, " + detail::grouped(Net::flops) + " flop a sample\n";
    t += detail::explain_layers<program>();
    t += detail::explain_plan<Inference, P, Exec>("inference");
    t += detail::explain_plan<Training, P, Exec>("training");
    if constexpr (is_whole_step<program>(Exec::fusion))
      t +=
          "training with one loss: forward, loss, backward and all gradients in one pass; there is "
          "nothing to overlap communication with\n";
    return t;
  }();
  return text.c_str();
}

}  // namespace phyllo

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <phyllo/model/explain.hpp>
#include <phyllo/perf/perf_file.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class P> constexpr std::string_view dtype_name() {
  using S = typename P::storage;
  if (std::is_same_v<S, double>) return "f64";
  if (std::is_same_v<S, float>) return "f32";
  return std::is_same_v<S, bf16> ? "bf16" : "f16";
}

// "perf::Mlp" -> "Mlp": the suite's networks and a user's copies of them have different homes.
inline std::string_view without_namespace(std::string_view name) {
  std::size_t const home = name.substr(0, name.find('<')).rfind("::");
  return home == name.npos ? name : name.substr(home + 2);
}

// The ceilings of a line of workload "ceiling", with the unit that is fastest in precision P.
template <class P> Roofline roofline_of(PerfLine const& line) {
  Roofline c;
  c.flops = line.number("fma");
  if (std::is_same_v<typename P::storage, bf16>)
    for (char const* unit : {"bf16", "amx"})
      if (line.number(unit) > c.flops) {
        c.flops = line.number(unit);
        c.unit = unit;
      }
  c.memory = line.number("triad");
  c.cache = line.number("l2") * line.number("threads");
  if (!line.word("cache_bytes").empty()) c.cache_bytes = line.number("cache_bytes");
  return c;
}

// What a line says of the whole, and the floors of the steps that it is made of.
template <class Planned, class P, bool OnePass>
std::string measured_text(PerfLine const& l, Roofline const& roofline) {
  double const floor = l.number("floor_seconds"), median = l.number("seconds.median");
  long const batch = std::lround(l.number("batch"));
  std::string workload(l.word("workload"));
  if (!l.word("case").empty()) workload += " " + std::string(l.word("case"));
  std::string text = "  " + workload +
                     line(", %s, batch %s, %s, threads %ld: floor %s us by ",
                          Planned::phase == Phase::training ? "training" : "inference",
                          grouped(batch).c_str(), std::string(dtype_name<P>()).c_str(),
                          std::lround(l.number("threads")), microseconds(floor).c_str()) +
                     std::string(l.word("ceiling")) +
                     line(", measured %s us, share of the floor %.1f %%\n",
                          microseconds(median).c_str(), 100 * floor / median);
  if constexpr (!OnePass && Planned::plan.size > 1)
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      ((text +=
        [&] {
          constexpr StepCost cost = step_cost<Planned>(int(S), int(sizeof(typename P::storage)),
                                                       int(sizeof(typename P::accumulate)));
          Floor const step = floor_of(cost, roofline, batch);
          return line("    %3d  %-26s floor %9s us by %s\n", int(S),
                      step_text<Planned, int(S)>().c_str(), microseconds(step.seconds).c_str(),
                      step.ceiling);
        }()),
       ...);
    }(std::make_index_sequence<Planned::plan.size>{});
  return text;
}

}  // namespace detail

/// `explain`, and the measurements of the network by `perf/run --json`: the shortest time that the
/// machine allows, the time that was needed, and the first as a share of the second.
///
/// options  Net, P, Exec: as for `explain`; lines of the file count if they have P's storage type,
///          a network of this name, in any namespace, and this many operations
/// errors   run: a file that cannot be read or is not such a file -> Error
template <class Net, Precision P = Full<float>, class Exec = Execution<>>
std::string explain_measured(std::string const& path) {
  constexpr int element = int(sizeof(typename P::storage));
  using Inference = NetworkPlan<Net, Phase::inference, P, Exec>;
  using Training = NetworkPlan<Net, Phase::training, P, Exec>;
  std::string const source = "explain_measured(" + detail::quoted_path(path) + ")";
  std::string const name = type_name<Net>();
  std::string text = explain<Net, P, Exec>(), others;
  text += "measured, in " + path + ":\n";
  bool found = false;
  Roofline roofline;
  for (detail::PerfLine const& line : detail::read_perf_file(path, source)) {
    if (line.word("workload") == "ceiling") roofline = detail::roofline_of<P>(line);
    if (line.word("network").empty() || line.word("system") != "phyllo") continue;
    std::string const what = std::string(line.word("network")) + " " +
                             std::string(line.word("phase")) + " in " +
                             std::string(line.word("dtype"));
    bool const trains = line.word("phase") == "training";
    double const flops = double(trains ? plan_cost<Training>(element, element).flops : Net::flops);
    // The file has six digits.
    if (detail::without_namespace(line.word("network")) == detail::without_namespace(name) &&
        line.word("dtype") == detail::dtype_name<P>() &&
        std::abs(line.number("flops_per_sample") - flops) <= 1e-5 * flops) {
      constexpr bool whole = runs_whole_steps<Net, P, Exec>();
      text += trains ? detail::measured_text<Training, P, whole>(line, roofline)
                     : detail::measured_text<Inference, P, false>(line, roofline);
      found = true;
    } else if (others.find(what) == std::string::npos) {
      others += (others.empty() ? "" : ", ") + what;
    }
  }
  if (!found)
    text += "  nothing of this network in " + std::string(detail::dtype_name<P>()) +
            "; the file has " + (others.empty() ? std::string("no measurement") : others) + "\n";
  return text;
}

}  // namespace phyllo::inline PHYLLO_ISA

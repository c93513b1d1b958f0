// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ceilings.hpp"
#include "samples.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace perf {

/// One thing that is timed: a call on `batch` samples.
struct Case {
  std::string name;  // of several in one workload, "" of one
  std::string network;
  char const* phase = "inference";  // or "training"
  long batch = 0;
  double flops_per_sample = 0;
  double bytes_per_sample = 0;  // of memory that no cache holds
  double floor_seconds = 0;
  std::string ceiling;                // what the floor stands on
  double relative_error = 0;          // against float64
  double kept_bytes_per_sample = 0;   // of training, from the forward to the backward pass
  std::function<void()> call;         // returns when it is done
  std::function<void()> print_steps;  // where its time lies, if that is known
};

/// Whether `--steps` asks for the steps of the cases, not for their times.
inline bool wants_steps = false;

/// Answers `perf/run`: one line about each case, "ready", and then, for every line `sample CASE`,
/// the seconds of one call. So that systems can be timed in turns, each is a process.
inline int serve(std::string const& workload, std::string const& backend, std::string const& dtype,
                 Ceilings const& c, std::vector<Case> const& cases) {
  if (wants_steps) {
    for (Case const& k : cases)
      if (k.print_steps) k.print_steps();
    return 0;
  }
  c.print();
  Samples samples;
  for (Case const& k : cases) {
    samples.add(k.call);
    // JSON has no NaN, and no infinity.
    double const error = std::isfinite(k.relative_error) ? k.relative_error : 1e300;
    std::printf(
        "{\"workload\": \"%s\", \"case\": \"%s\", \"network\": \"%s\", \"phase\": \"%s\", "
        "\"system\": \"phyllo\", \"backend\": \"%s\", "
        "\"dtype\": \"%s\", \"threads\": %d, \"batch\": %ld, \"flops_per_sample\": %.6g, "
        "\"bytes_per_sample\": %.6g, \"floor_seconds\": %.6g, \"ceiling\": \"%s\", "
        "\"relative_error\": %.3g, \"kept_bytes_per_sample\": %.0f}\n",
        workload.c_str(), k.name.c_str(), k.network.c_str(), k.phase, backend.c_str(),
        dtype.c_str(), c.threads, k.batch, k.flops_per_sample, k.bytes_per_sample, k.floor_seconds,
        k.ceiling.c_str(), error, k.kept_bytes_per_sample);
  }
  return samples.answer();
}

/// The same of one case: of a list of one, nvcc loses the braces.
inline int serve(std::string const& workload, std::string const& backend, std::string const& dtype,
                 Ceilings const& c, Case const& one) {
  return serve(workload, backend, dtype, c, std::vector<Case>(1, one));
}

}  // namespace perf

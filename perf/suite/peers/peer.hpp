// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../samples.hpp"

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace peer {

/// What perf/run asks a peer for.
struct Request {
  std::string workload, dtype = "f32";
  int threads = 1;

  Request(int argc, char* argv[]) {
    for (int i = 1; i + 1 < argc; ++i) {
      std::string const name = argv[i];
      if (name == "--workload") workload = argv[i + 1];
      if (name == "--dtype") dtype = argv[i + 1];
      if (name == "--threads") threads = std::stoi(argv[i + 1]);
    }
  }
};

struct Case {
  std::string name;  // as Phyllo's case is called
  long batch = 0;
  double relative_error = 0;  // against float64; negative: checked in another way
  std::function<void()> call;
};

/// |got - expected| / |expected|
inline double relative_error(std::vector<double> const& expected, std::vector<double> const& got) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

/// The protocol of perf/suite/serve.hpp; cases whose results are wrong are not timed.
inline int serve(Request const& request, std::string const& library,
                 std::vector<Case> const& cases) {
  if (cases.empty()) {
    std::printf("absent: %s has no program for %s in %s\n", library.c_str(),
                request.workload.c_str(), request.dtype.c_str());
    return 0;
  }
  perf::Samples samples;
  for (Case const& c : cases) {
    if (!(c.relative_error <= (request.dtype == "f32" ? 1e-5 : 5e-2))) {
      std::printf("absent: %s is wrong by %g\n", library.c_str(), c.relative_error);
      return 0;
    }
    samples.add(c.call);
    char error[32] = "null";
    if (c.relative_error >= 0) std::snprintf(error, sizeof(error), "%g", c.relative_error);
    std::printf(
        "{\"workload\": \"%s\", \"case\": \"%s\", \"batch\": %ld, \"relative_error\": %s}\n",
        request.workload.c_str(), c.name.c_str(), c.batch, error);
  }
  return samples.answer();
}

}  // namespace peer

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What `perf/run --json` writes, beside the plan of the network that it is about.

#include <phyllo/perf/explain_measured.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <unistd.h>
#include <cstdio>
#include <fstream>
#include <string>

using namespace phyllo;

namespace {

struct Mlp : Network<Input<16>, Linear<8>, Tanh, Linear<4>> {};
struct Wide : Network<Input<16>, Linear<256>, ReLU, Linear<4>> {};

struct PerfFile {
  std::string path = "perf_file." + std::to_string(::getpid()) + ".jsonl";
  explicit PerfFile(std::string const& text) { std::ofstream(path) << text; }
  PerfFile(PerfFile const&) = delete;
  PerfFile& operator=(PerfFile const&) = delete;
  ~PerfFile() { std::remove(path.c_str()); }
};

std::string const ceiling =
    R"({"workload": "ceiling", "threads": 1, "fma": 1e11, "bf16": 2e11, "amx": 0, "l2": 8e10, )"
    R"("triad": 1e10, "machine": {"processor": "a \"quoted\" name", "cores": 2}})"
    "\n";

std::string measured(std::string const& network, char const* phase, char const* dtype, long flops,
                     char const* system = "phyllo") {
  return R"({"workload": "mlp", "case": "", "network": ")" + network + R"(", "phase": ")" + phase +
         R"(", "system": ")" + system + R"(", "dtype": ")" + dtype +
         R"(", "threads": 1, "batch": 1000, "flops_per_sample": )" + std::to_string(flops) +
         R"(, "relative_error": null, "floor_seconds": 2e-06, "ceiling": "fma", )"
         R"("seconds": {"median": 4.0e-06, "min": 3e-06, "max": 5e-06}})"
         "\n";
}

template <class Net, class P = Full<float>> std::string explained(std::string const& text) {
  PerfFile const file(text);
  return explain_measured<Net, P>(file.path);
}

bool has(std::string const& text, std::string const& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("explain_measured: the share of the floor, of this network's lines") {
  std::string const text = ceiling + measured("perf::Mlp", "inference", "f32", Mlp::flops);
  std::string const got = explained<Mlp>(text);
  CHECK(has(got, explain<Mlp>()));
  CHECK(has(got,
            "mlp, inference, batch 1,000, f32, threads 1: floor 2 us by fma, measured 4 us, "
            "share of the floor 50.0 %"));
  CHECK_FALSE(has(got, "nothing of this network"));
}

TEST_CASE("explain_measured: a plan of several steps has the floor of each") {
  using Training = Planned<Wide, Phase::training, FusionLevel::segment, 4>;
  long const flops = plan_cost<Training>(4, 4).flops;
  std::string const got = explained<Wide>(ceiling + measured("Wide", "training", "f32", flops));
  // 16 x 256: 2 x 8192 and two biases of 256 operations, and the ReLU; in memory 16 + 256 values,
  // backwards 256 + 256 and 16: 3,200 bytes a sample and 34,816 a batch.
  CHECK(has(got, "0  linear+relu                floor     323.5 us by memory"));
  CHECK(has(got, "1  linear                     floor"));
  // Kept by a cache of 4 MB the same is bound by operations.
  std::string cached = ceiling;
  cached.insert(1, R"("cache_bytes": 4e6, )");
  CHECK(has(explained<Wide>(cached + measured("Wide", "training", "f32", flops)),
            "0  linear+relu                floor     171.5 us by fma"));
}

TEST_CASE("explain_measured: the unit is the precision's fastest") {
  long const flops =
      plan_cost<Planned<Wide, Phase::inference, FusionLevel::segment, 2>>(2, 4).flops;
  std::string cached = ceiling;
  cached.insert(1, R"("cache_bytes": 4e9, )");
  CHECK(has(
      explained<Wide, Mixed<bf16, float>>(cached + measured("x::Wide", "inference", "bf16", flops)),
      " us by bf16"));
}

TEST_CASE("explain_measured: lines of other networks, precisions and systems do not count") {
  for (std::string const& line : {measured("perf::Mlp", "inference", "bf16", Mlp::flops),
                                  measured("perf::Mlp", "inference", "f32", Mlp::flops + 2),
                                  measured("perf::Mlp2", "inference", "f32", Mlp::flops),
                                  measured("perf::Mlp", "inference", "f32", Mlp::flops, "torch")}) {
    std::string const got = explained<Mlp>(ceiling + line);
    CHECK(has(got, "nothing of this network in f32; the file has "));
    CHECK_FALSE(has(got, "share of the floor"));
  }
  CHECK(has(explained<Mlp>(ceiling + measured("perf::Mlp", "inference", "bf16", 1)),
            "the file has perf::Mlp inference in bf16"));
  CHECK(has(explained<Mlp>(""), "the file has no measurement"));
}

TEST_CASE("explain_measured: a file that is none is refused with its line") {
  auto const refusal = [](std::string const& text) -> std::string {
    try {
      explained<Mlp>(text);
    } catch (Error const& e) {
      return e.what();
    }
    return "accepted";
  };
  CHECK(has(refusal("\n{\"workload\": 1"), "a comma or a closing brace on line 2"));
  CHECK(has(refusal("no\n"), "expected an object on line 1, got \"no\""));
  CHECK(has(refusal("{\"a\": [1]}"), "a number or a word on line 1"));
  CHECK(has(refusal("{\"a\": \"b"), "a closing quote"));
  CHECK(has(refusal("{\"a\" 1}"), "a colon"));
  CHECK(has(refusal("{} x"), "the end of the line"));
  CHECK(has(refusal("{\"workload\": \"ceiling\"}"), "a number for fma on line 1"));
  CHECK(has(refusal("{\"a\": {\"a\": {\"a\": {\"a\": {\"a\": {\"a\": 1}}}}}}"), "an object"));
  CHECK_THROWS_AS(explain_measured<Mlp>("no such folder/no such file"), Error);
}

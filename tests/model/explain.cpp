// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The README shows the plan of its network; this test keeps the two the same.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "networks/readme.hpp"

namespace {
// The README shows the plan of a processor; on a device fewer steps are fused.
constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                               Kokkos::DefaultExecutionSpace::memory_space>::accessible;
}  // namespace

TEST_CASE("explain: the plan in the README is the one that the library prints" *
          doctest::skip(!on_host)) {
  std::ifstream readme("README.md");
  REQUIRE(readme.good());
  std::stringstream text;
  text << readme.rdbuf();
  // Without the last line, which depends on the compiler's flags.
  std::string const all = phyllo::explain<LeNet>();
  std::string const plan = all.substr(0, all.find("vectors: "));
  INFO("put this into README.md:\n", plan);
  CHECK(text.str().find(plan) != std::string::npos);
}

namespace {
struct Perceptron
    : phyllo::Network<phyllo::Input<8>, phyllo::Linear<16>, phyllo::Tanh, phyllo::Linear<2>> {};
}  // namespace

TEST_CASE("explain: fusion and backends are shown") {
  using Unfused =
      phyllo::Execution<Kokkos::DefaultExecutionSpace, phyllo::Backends<phyllo::PortableBackend>,
                        phyllo::FusionLevel::none>;
  std::string const fused = phyllo::explain<LeNet>();
  std::string const unfused = phyllo::explain<LeNet, phyllo::Full<double>, Unfused>();
  CHECK((fused.find("contraction epilogue") != std::string::npos) != on_host);
  CHECK((fused.find("small images") != std::string::npos) == on_host);
  CHECK((fused.find("openmp") != std::string::npos) == on_host);
  std::string const narrow = phyllo::explain<Perceptron>();
  CHECK(narrow.find("narrow segment") != std::string::npos);
  CHECK(unfused.find("portable") != std::string::npos);
  CHECK(unfused.find("contraction epilogue") == std::string::npos);
}

namespace {
using Host = Kokkos::DefaultHostExecutionSpace;
struct Wide : phyllo::Network<phyllo::Input<16>, phyllo::Linear<64>, phyllo::ReLU,
                              phyllo::Linear<64>, phyllo::Linear<129>, phyllo::Softmax> {};
struct Normalized : phyllo::Network<phyllo::Input<8>, phyllo::Linear<70>, phyllo::BatchNorm<>,
                                    phyllo::Tanh, phyllo::Linear<70>, phyllo::Linear<2>> {};
struct Classes
    : phyllo::Network<phyllo::Input<8>, phyllo::Linear<4>, phyllo::Linear<3>, phyllo::Softmax> {};
// A GPU of little scratch memory: 64 x 64 floats, with biases.
struct LittleScratch {
  static constexpr char const* name = "little";
  static constexpr phyllo::SegmentLimits segment_limits = {
      .backend = name,
      .widest = 128,
      .most_layers = 16,
      .most_parameters = 1 << 20,
      .scratch = {.bytes = 16640, .group = 16, .weight_bytes = 4, .bias_bytes = 4}};
  template <class Op, class P> using kernels = phyllo::portable::Kernels<Op, P>;
};
template <class Net, class... B> std::string explained() {
  return phyllo::explain<Net, phyllo::Full<float>,
                         phyllo::Execution<Host, phyllo::Backends<B...>>>();
}
// The lines of a text that tell what ended a fusion, without their indentation: of the plan of
// inference, or of training.
std::string ends_of(std::string const& text, bool training = false) {
  std::size_t const plan = text.find("\ntraining: ");
  std::istringstream lines(training ? text.substr(plan) : text.substr(0, plan));
  std::string all;
  for (std::string line; std::getline(lines, line);)
    if (line.find(": ") != line.npos && line.rfind("       ", 0) == 0) all += line.substr(7) + "\n";
  return all;
}
}  // namespace

TEST_CASE("explain: what ended the fusion of each step of inference") {
  using phyllo::PortableBackend;
  CHECK(ends_of(explained<Perceptron, PortableBackend>()) == "");
  CHECK(ends_of(explained<Wide, PortableBackend>()) ==
        "segment ends: 129 channels, backend portable takes 128\n"
        "no segment: 129 channels, backend portable takes 128\n");
  CHECK(ends_of(explained<Normalized, PortableBackend>()) ==
        "no segment: backend portable takes no normalisations\n");
  CHECK(ends_of(explained<Classes, PortableBackend>()) ==
        "segment ends: softmax is no layer of a segment here\n");
  CHECK(ends_of(explained<Normalized, LittleScratch>()) ==
        "no segment: backend little takes no normalisations\n"
        "no segment: scratch memory of backend little: 25.31 KiB wanted, 16.25 KiB there\n"
        "no segment: 1 Linear layer, backend little takes 2 or more\n");
  CHECK(ends_of(explained<Normalized, PortableBackend>(), true) ==
        "no segment: backend portable takes no normalisations\n");
  if constexpr (on_host)
    CHECK(ends_of(phyllo::explain<Normalized>(), true) ==
          "segment ends: statistics of a batch are known when all of it has passed\n");
  // The line is below its step.
  std::string const text = explained<Wide, PortableBackend>();
  std::size_t const step = text.find("linear+relu+linear");
  REQUIRE(step != text.npos);
  CHECK(text.substr(text.find('\n', step) + 1, 19) == "       segment ends");
}

TEST_CASE("explain: the last line is the vector width, with a remedy where it is narrow" *
          doctest::skip(PHYLLO_VECTOR_BYTES == 0)) {
  std::string const text = phyllo::explain<Perceptron>();
  std::string const expected = "vectors: " + std::to_string(PHYLLO_VECTOR_BYTES) + " bytes (" +
                               PHYLLO_TEXT(PHYLLO_ISA) + ")";
  INFO(text);
  REQUIRE(text.find(expected) != std::string::npos);
  std::string const last = text.substr(text.find(expected));
  CHECK(last.find('\n') == last.size() - 1);
#if defined(__x86_64__) && !defined(__AVX2__)
  CHECK(last.find("compile with -march=native") != std::string::npos);
  CHECK(last.find("-DKokkos_ARCH_NATIVE=ON") != std::string::npos);
#else
  CHECK(last == expected + "\n");
#endif
}

TEST_CASE("explain: with roofline, the floor of every step and of a whole step") {
  phyllo::Roofline const roofline{.flops = 1e9, .memory = 1e10};
  std::string const text = phyllo::explain<Perceptron>(roofline, 1000);
  INFO(text);
  // 2 x 128 + 16, 16, 2 x 32 + 2 operations a sample, at one a nanosecond.
  CHECK(text.find("354           40       8.8             712       354 fma") != std::string::npos);
  CHECK(text.find("whole step") != std::string::npos);
  CHECK(text.find("flop/sample bytes/sample flop/byte parameter bytes  floor us by") !=
        std::string::npos);
  CHECK(std::string(phyllo::explain<Perceptron>()).find("floor us") == std::string::npos);
}

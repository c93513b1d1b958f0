// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/in_kernel/in_kernel.hpp>
#include <phyllo/in_kernel/snapshot.hpp>
#include <phyllo/policy/precision.hpp>

#include <doctest/doctest.h>
#include <model/in_kernel_networks.hpp>
#include <model/in_kernel_reference.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

// The calls inside kernels against plain loops in double, parameters filled by hand.
namespace in_kernel_test {

using Host = Kokkos::DefaultHostExecutionSpace;

// Reproducible numbers in (-1, 1) without a pattern that a wrong index would meet again.
inline double number(int i) { return std::sin(1.7 * i + 0.3 * std::sin(0.9 * i * i)); }

constexpr int samples = 5;

template <class Net, class P> struct Case {
  using storage = typename P::storage;
  using accumulate = typename P::accumulate;
  using program = typename Net::program;
  static constexpr int inputs = Ports<Net>::inputs;
  static constexpr int outputs = Ports<Net>::outputs;
  template <class T> using Vector = Kokkos::View<T*, Host>;
  template <class T> using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, Host>;

  Vector<storage> parameters{"parameters", std::size_t(program::nodes.arena_size)};
  Vector<float> buffers{"buffers", std::size_t(program::nodes.buffer_size)};
  Interpreter<Net> interpreter;
  std::vector<std::vector<Numbers>> expected;  // of each sample, of each output
  Matrix<float> input[2];                      // (samples, C S), rows are strided
  Matrix<double> output[2];

  static auto round(double x) { return static_cast<storage>(static_cast<accumulate>(x)); }
  static double widen(storage x) { return double(static_cast<accumulate>(x)); }

  Case() {
    for (int i = 0; i < program::nodes.arena_size; ++i) {
      parameters(i) = round(0.5 * number(i));
      interpreter.parameters.push_back(widen(parameters(i)));
    }
    for (int i = 0; i < program::nodes.buffer_size; ++i) {
      buffers(i) = float(1.1 + number(3 * i));
      interpreter.buffers.push_back(double(buffers(i)));
    }
    for (int k = 0; k < inputs; ++k)
      input[k] = Matrix<float>("input", samples, std::size_t(Ports<Net>::input_shape(k).size()));
    for (int k = 0; k < outputs; ++k)
      output[k] =
          Matrix<double>("output", samples, std::size_t(Ports<Net>::output_shape(k).size()));
    for (int n = 0; n < samples; ++n) {
      std::vector<Numbers> x;
      for (int k = 0; k < inputs; ++k) {
        x.emplace_back();
        for (int i = 0; i < int(input[k].extent(1)); ++i) {
          input[k](n, i) = float(widen(round(number(1000 * n + 100 * k + i))));
          x.back().push_back(double(input[k](n, i)));
        }
      }
      expected.push_back(interpreter.run(x));
    }
  }

  InKernel<Net, P> closure() const { return {parameters.data(), buffers.data()}; }

  // Largest error, relative to the largest number of the output.
  double error() const {
    double worst = 0;
    for (int k = 0; k < outputs; ++k) {
      double scale = 0, difference = 0;
      for (int n = 0; n < samples; ++n)
        for (int i = 0; i < int(output[k].extent(1)); ++i) {
          double const e = expected[std::size_t(n)][std::size_t(k)][std::size_t(i)];
          scale = std::max(scale, std::abs(e));
          double const d = std::abs(output[k](n, i) - e);
          difference = d <= difference ? difference : d;  // a not-a-number stays
        }
      worst = std::max(worst, difference / scale);
    }
    return worst;
  }
  void clear() {
    for (int k = 0; k < outputs; ++k) Kokkos::deep_copy(output[k], -7.0);
  }
};

// Kernels as a user writes them, on the host.
template <class Net, class P> void by_threads(Case<Net, P>& c) {
  auto const closure = c.closure();
  Host const exec;
  c.clear();
  auto const input = c.input[0];
  auto const output = c.output[0];
  Kokkos::parallel_for("by threads", Kokkos::RangePolicy<Host>(exec, 0, samples), [=](int n) {
    auto const y = closure(Kokkos::subview(input, n, Kokkos::ALL));
    for (int i = 0; i < y.size(); ++i) output(n, i) = y[i];
  });
  exec.fence("by threads");
}

template <class Net, class P> void by_teams(Case<Net, P>& c, int team_size) {
  auto const closure = c.closure();
  Host const exec;
  c.clear();
  auto const input = c.input[0];
  auto const output = c.output[0];
  using Policy = Kokkos::TeamPolicy<Host>;
  auto policy =
      team_size > 0 ? Policy(exec, samples, team_size) : Policy(exec, samples, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes));
  Kokkos::parallel_for("by teams", policy, [=](Policy::member_type const& member) {
    int const n = member.league_rank();
    closure(member, Kokkos::subview(input, n, Kokkos::ALL),
            Kokkos::subview(output, n, Kokkos::ALL));
  });
  exec.fence("by teams");
}

// Each thread of a team has a sample of its own; the last team has threads without one.
template <class Net, class P> void by_warps(Case<Net, P>& c, int team_size) {
  auto const closure = c.closure();
  Host const exec;
  c.clear();
  auto const input = c.input[0];
  auto const output = c.output[0];
  using Policy = Kokkos::TeamPolicy<Host>;
  Policy policy(exec, (samples + team_size - 1) / team_size, team_size);
  policy.set_scratch_size(0, Kokkos::PerThread(closure.scratch_bytes));
  Kokkos::parallel_for("by warps", policy, [=](Policy::member_type const& member) {
    int const n = member.league_rank() * member.team_size() + member.team_rank();
    if (n < samples)
      closure(Warp(member), Kokkos::subview(input, n, Kokkos::ALL),
              Kokkos::subview(output, n, Kokkos::ALL));
  });
  exec.fence("by warps");
}

// Rounding of storage, once for each of the few steps, and what the layers make of it.
template <class P> inline constexpr double bound = 8e-3;
template <> inline constexpr double bound<Mixed<fp16, float>> = 1e-3;
template <> inline constexpr double bound<Full<float>> = 1e-6;
template <> inline constexpr double bound<Full<double>> = 1e-14;

template <class Net, class P> void check() {
  CAPTURE(type_name<Net>());
  CAPTURE(type_name<P>());
  static_assert(sizeof(InKernel<Net, P>) <= 64 && std::is_trivially_copyable_v<InKernel<Net, P>>);
  Case<Net, P> c;
  if constexpr (InKernel<Net, P>::width <= InKernel<Net, P>::max_width) {
    by_threads(c);
    CHECK(c.error() < bound<P>);
  }
  for (int team_size : {0, 1, 2}) {
    if (team_size > Host().concurrency()) continue;
    by_teams(c, team_size);
    CHECK(c.error() < bound<P>);
    if (team_size == 0) continue;
    by_warps(c, team_size);
    CHECK(c.error() < bound<P>);
  }
}

}  // namespace in_kernel_test

using namespace in_kernel_test;

TEST_CASE_TEMPLATE("in_kernel equals plain loops in double, in each precision", P, Full<double>,
                   Full<float>, Mixed<bf16, float>, Mixed<fp16, float>) {
  check<Perceptron, P>();
  check<NormalizedResidual, P>();
}
TEST_CASE_TEMPLATE("in_kernel equals plain loops in double, for each kind of step", P, Full<double>,
                   Mixed<bf16, float>) {
  check<SmallLeNet, P>();
  check<UNet, P>();
  check<Classifier, P>();
  check<Volume, P>();
  check<Wide, P>();
}

// What a closure takes besides Views, and what it returns.
TEST_CASE_TEMPLATE("in_kernel takes anything that is indexed", P, Full<double>,
                   Mixed<bf16, float>) {
  Case<Rate, P> c;
  auto const closure = c.closure();
  using T = typename P::accumulate;
  float const plain[2] = {c.input[0](0, 0), c.input[0](0, 1)};
  T const expected = closure(plain);
  CHECK(std::abs(double(expected) - c.expected[0][0][0]) < bound<P>);

  float const* const pointer = plain;
  CHECK(T(closure(pointer)) == expected);
  CHECK(T(closure(Kokkos::Array<float, 2>{plain[0], plain[1]})) == expected);
  CHECK(T(closure(Values<T, 2>{{T(plain[0]), T(plain[1])}})) == expected);
  auto const called = [&](int i) { return plain[i]; };
  CHECK(T(closure(called)) == expected);
  Kokkos::View<bf16[2], Host> narrow("narrow");
  for (int i = 0; i < 2; ++i) narrow(i) = bf16(plain[i]);
  CHECK(std::abs(double(closure(narrow)) - double(expected)) < 2e-2);
  static_assert(decltype(closure(plain))::size() == 1);

  struct One : Network<Input<1>, Linear<4>, Tanh, Linear<1>> {};
  Case<One, P> one;
  T const from_number = one.closure()(one.input[0](0, 0));
  CHECK(std::abs(double(from_number) - one.expected[0][0][0]) < bound<P>);
}

TEST_CASE_TEMPLATE("in_kernel of two inputs and two named outputs", P, Full<double>,
                   Mixed<bf16, float>) {
  Case<TwoHeads, P> c;
  auto const closure = c.closure();
  auto const a = c.input[0], b = c.input[1];
  auto const out = c.output[0], out_flux = c.output[1];
  Host const exec;
  c.clear();
  Kokkos::parallel_for("by threads", Kokkos::RangePolicy<Host>(exec, 0, samples), [=](int n) {
    auto const y = closure(Kokkos::subview(a, n, Kokkos::ALL), Kokkos::subview(b, n, Kokkos::ALL));
    out(n, 0) = y.template get<rate>();
    for (int i = 0; i < 3; ++i) out_flux(n, i) = y.template get<flux>()[i];
  });
  exec.fence("by threads");
  CHECK(c.error() < bound<P>);

  c.clear();
  using Policy = Kokkos::TeamPolicy<Host>;
  Policy policy(exec, samples, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes));
  Kokkos::parallel_for("by teams", policy, [=](Policy::member_type const& member) {
    int const n = member.league_rank();
    closure(member, Kokkos::subview(a, n, Kokkos::ALL), Kokkos::subview(b, n, Kokkos::ALL),
            Kokkos::subview(out, n, Kokkos::ALL), Kokkos::subview(out_flux, n, Kokkos::ALL));
  });
  exec.fence("by teams");
  CHECK(c.error() < bound<P>);
}

// The caller's scratch memory stays his, and a team may call as often as it likes.
TEST_CASE("in_kernel by a team twice, beside the caller's own scratch memory") {
  using P = Full<double>;
  Case<Wide, P> c;
  c.clear();
  auto const closure = c.closure();
  auto const input = c.input[0];
  auto const output = c.output[0];
  Host const exec;
  using Policy = Kokkos::TeamPolicy<Host>;
  using Scratch = Kokkos::View<double*, Host::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  constexpr int numbers = 10;
  Policy policy(exec, 1, Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes + Scratch::shmem_size(numbers)));
  Kokkos::parallel_for("all by one team", policy, [=](Policy::member_type const& member) {
    Scratch const own(member.team_scratch(0), numbers);
    for (int n = 0; n < samples; ++n) {
      closure(member, Kokkos::subview(input, n, Kokkos::ALL), own);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, numbers),
                           [&](int i) { output(n, i) = own(i); });
      member.team_barrier();
    }
  });
  exec.fence("all by one team");
  CHECK(c.error() < bound<P>);
}

TEST_CASE("a not-a-number passes maxima, and stays in its sample") {
  using P = Full<float>;
  Case<SmallLeNet, P> c;
  c.input[0](2, 9) = std::nanf("");
  by_threads(c);
  CHECK(std::isnan(c.output[0](2, 0)));
  CHECK(!std::isnan(c.output[0](1, 0)));
}

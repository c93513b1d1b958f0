// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Pointwise layers that the library does not know fuse as its own do: into segments, and into
// whole training steps.

#include <phyllo/backend/reference/reference.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <type_traits>

// A user's code, in a namespace of the user's.
namespace solver {

/// x tanh(ln(1 + e^x)), differentiated from its input.
struct Mish : phyllo::Pointwise {
  static constexpr char const* name = "mish";
  template <class T> KOKKOS_FUNCTION static T value(T x) {
    return x * Kokkos::tanh(Kokkos::log1p(Kokkos::exp(x)));
  }
  template <class T> KOKKOS_FUNCTION static T derivative(T x) {
    T const t = Kokkos::tanh(Kokkos::log1p(Kokkos::exp(x)));
    return t + x * (1 - t * t) / (1 + Kokkos::exp(-x));
  }
};

/// ln(1 + e^x), differentiated from its output.
struct Softplus : phyllo::Pointwise {
  static constexpr char const* name = "softplus";
  static constexpr phyllo::Derivative derivative_of = phyllo::Derivative::output;
  template <class T> KOKKOS_FUNCTION static T value(T x) { return Kokkos::log1p(Kokkos::exp(x)); }
  template <class T> KOKKOS_FUNCTION static T derivative(T y) { return 1 - Kokkos::exp(-y); }
};

// Widths that are no multiple of a vector, and chains of two.
struct Closure : phyllo::Network<phyllo::Input<5>, phyllo::Linear<19>, Mish, phyllo::Linear<17>,
                                 Softplus, phyllo::Linear<24, phyllo::Bias<false>>, Mish,
                                 phyllo::ReLU, phyllo::Linear<3>, Softplus> {};

}  // namespace solver

namespace {

using namespace phyllo;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using HostSpace = Kokkos::DefaultHostExecutionSpace;
using Reference = Execution<HostSpace, Backends<ReferenceBackend>>;
using Fast = Execution<HostSpace>;

constexpr int batch = 101;  // two tiles and a tail

Matrix numbers(int columns, double phase) {
  Matrix m("numbers", batch, std::size_t(columns));
  for (std::size_t n = 0; n < batch; ++n)
    for (std::size_t i = 0; i < std::size_t(columns); ++i)
      m(n, i) = std::sin(phase + 0.7 * double(n) + 1.3 * double(i) + 0.11 * double(n * i));
  return m;
}

template <class A, class B> double distance(A const& expected, B const& got, std::size_t count) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double const e = double(expected.data()[i]), d = double(got.data()[i]) - e;
    difference += d * d;
    norm += e * e;
  }
  return std::sqrt(difference / norm);
}

template <class From, class To> void copy(From const& from, To const& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    to.data()[i] = typename To::value_type(double(from.data()[i]));
}

// A few roundings of sums; in bfloat16 of every layer's values.
template <class P>
constexpr double bound = std::is_same_v<typename P::storage, double>  ? 1e-14
                         : std::is_same_v<typename P::storage, float> ? 4e-6
                                                                      : 3e-2;

}  // namespace

TEST_CASE("user layer: the network is one segment and its training step one pass") {
  using Inference = Planned<solver::Closure, Phase::inference, FusionLevel::segment, 4>;
  static_assert(Inference::plan.size == 1);
  static_assert(Inference::step(0).kind == StepKind::segment);
  static_assert(Trainer<solver::Closure, MeanSquaredError, Sgd>::whole_step);
  std::string const plan = explain<solver::Closure, Full<float>, Fast>();
  INFO(plan);
  CHECK(plan.find("inference: 9 layers with work in 1 steps") != std::string::npos);
  CHECK(plan.find("narrow segment") != std::string::npos);
  CHECK(plan.find("whole step") != std::string::npos);
#if defined(PHYLLO_HAS_HOST_BACKEND)
  using Whole = op::WholeStep<StepSegment<Inference, 0>, MeanSquaredError>;
  using Backends = typename Fast::backends;
  CHECK(std::string(SelectedBackend<StepOp<Inference, 0>, Full<float>, Backends>::name) ==
        "openmp");
  CHECK(std::string(SelectedBackend<Whole, Full<float>, Backends>::name) == "openmp");
  CHECK(plan.find("openmp") != std::string::npos);
#endif
}

TEST_CASE_TEMPLATE("user layer: values and gradients are those of plain loops", P, Full<double>,
                   Full<float>, Mixed<bf16, float>) {
  using Net = solver::Closure;
  HostSpace const exec;
  Sgd const rule{.rate = 0};
  ModelOptions const options{.batch = batch, .seed = 3};
  Trainer<Net, MeanSquaredError, Sgd, P, Local, Fast> fused(exec, rule, options);
  Trainer<Net, MeanSquaredError, Sgd, Full<double>, Local, Reference> plain(exec, rule, options);
  exec.fence("built");
  copy(fused.model().parameters(), plain.model().parameters());
  Matrix const x = numbers(5, 0.2), targets = numbers(3, 1.1);
  Matrix const got("got", batch, 3), expected("expected", batch, 3);
  fused.model().infer(exec, x, got);
  plain.model().infer(exec, x, expected);
  exec.fence("inferred");
  CHECK(distance(expected, got, expected.size()) <= bound<P>);
  fused.step(x, targets);
  plain.step(x, targets);
  exec.fence("stepped");
  CHECK(distance(plain.model().gradients(), fused.model().gradients(),
                 std::size_t(plain.model().nodes.arena_size)) <= bound<P>);
  CHECK(fused.loss() == doctest::Approx(plain.loss()).epsilon(bound<P>));
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/loss/mean_squared_error.hpp>
#include <phyllo/model/model.hpp>
#include <phyllo/train/sgd.hpp>
#include <phyllo/train/trainer.hpp>

#include <doctest/doctest.h>
#include <model/in_kernel_networks.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

// The calls inside a user's kernels against batched inference of the same model, and beside its
// training.
namespace in_kernel_test {

using Space = Kokkos::DefaultExecutionSpace;
constexpr int samples = 37;

template <class P> using Matrix = Kokkos::View<typename P::accumulate**, Space>;

template <class Matrix> void fill(Space const& exec, Matrix const& m, double phase) {
  auto const host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, m);
  for (std::size_t n = 0; n < m.extent(0); ++n)
    for (std::size_t i = 0; i < m.extent(1); ++i)
      host(n, i) = std::sin(phase + 1.3 * double(n) + 0.7 * double(i) * double(n % 5 + 1));
  Kokkos::deep_copy(exec, m, host);
  exec.fence("fill");
}

template <class Matrix> auto on_host(Space const& exec, Matrix const& m) {
  auto const host = Kokkos::create_mirror(Kokkos::HostSpace{}, m);
  Kokkos::deep_copy(exec, host, m);
  exec.fence("on_host");
  return host;
}

// Compilers fuse multiplications and additions as they see fit where the processor can: then two
// kernels of the same formula agree to rounding only, else to the last bit.
#if defined(__FMA__) || defined(__aarch64__) || defined(__CUDACC__) || defined(__HIPCC__)
constexpr bool is_fused = true;
#else
constexpr bool is_fused = false;
#endif

template <class P> inline constexpr double rounding = 0x1p-7;
template <> inline constexpr double rounding<Mixed<fp16, float>> = 0x1p-10;
template <> inline constexpr double rounding<Full<float>> = 0x1p-23;
template <> inline constexpr double rounding<Full<double>> = 0x1p-52;

// Largest difference relative to the largest number.
template <class M> double difference(Space const& exec, M const& a, M const& b) {
  auto const x = on_host(exec, a), y = on_host(exec, b);
  double largest = 0, scale = 0;
  for (std::size_t n = 0; n < x.extent(0); ++n)
    for (std::size_t i = 0; i < x.extent(1); ++i) {
      double const d = std::abs(double(x(n, i)) - double(y(n, i)));
      largest = d <= largest ? largest : d;  // a not-a-number stays
      scale = std::max(scale, std::abs(double(y(n, i))));
    }
  return largest / scale;
}
template <class P> bool equal(Space const& exec, Matrix<P> const& a, Matrix<P> const& b) {
  return difference(exec, a, b) <= (is_fused ? 16 * rounding<P> : 0);
}

template <class Closure, class M>
void call_by_threads(Space const& exec, Closure const& closure, M const& x, M const& y) {
  Kokkos::parallel_for(
      "by threads", Kokkos::RangePolicy<Space>(exec, 0, int(x.extent(0))), KOKKOS_LAMBDA(int n) {
        auto const values = closure(Kokkos::subview(x, n, Kokkos::ALL));
        for (int i = 0; i < values.size(); ++i) y(n, i) = values[i];
      });
}

template <class Closure, class M>
void call_by_teams(Space const& exec, Closure const& closure, M const& x, M const& y) {
  using Policy = Kokkos::TeamPolicy<Space>;
  Policy policy(exec, int(x.extent(0)), Kokkos::AUTO);
  policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes));
  Kokkos::parallel_for(
      "by teams", policy, KOKKOS_LAMBDA(typename Policy::member_type const& member) {
        int const n = member.league_rank();
        closure(member, Kokkos::subview(x, n, Kokkos::ALL), Kokkos::subview(y, n, Kokkos::ALL));
      });
}

// Running statistics, biases and scales that a network has after some training.
template <class M> void perturb(Space const& exec, M const& model) {
  auto const parameters = on_host(exec, model.parameters());
  using A = typename M::accumulate;
  for (std::size_t i = 0; i < parameters.extent(0); ++i)
    parameters(i) = typename M::storage(A(parameters(i)) + A(0.1 * std::sin(3.0 * double(i))));
  Kokkos::deep_copy(exec, model.parameters(), parameters);
  auto const buffers = on_host(exec, model.buffers());
  for (std::size_t i = 0; i < buffers.extent(0); ++i)
    buffers(i) += float(0.5 * std::sin(2.0 * double(i)));
  Kokkos::deep_copy(exec, model.buffers(), buffers);
  exec.fence("perturb");
}

template <class Net, class P> void compare() {
  CAPTURE(type_name<Net>());
  CAPTURE(type_name<P>());
  Space const exec;
  Model<Net, P> model(exec, {.batch = 16, .seed = 3});
  perturb(exec, model);
  Matrix<P> x("x", samples, std::size_t(Net::input.size()));
  Matrix<P> y("y", samples, std::size_t(Net::output.size()));
  Matrix<P> expected("expected", samples, std::size_t(Net::output.size()));
  fill(exec, x, 0.4);
  model.infer(exec, x, expected);
  auto const closure = model.in_kernel();
  static_assert(sizeof(closure) <= 64 && std::is_trivially_copyable_v<decltype(model.in_kernel())>);
  if constexpr (closure.width <= closure.max_width) {
    Kokkos::deep_copy(exec, y, -7);
    call_by_threads(exec, closure, x, y);
    CHECK(equal<P>(exec, y, expected));
  }
  Kokkos::deep_copy(exec, y, -7);
  call_by_teams(exec, closure, x, y);
  CHECK(equal<P>(exec, y, expected));
}

}  // namespace in_kernel_test

using namespace in_kernel_test;

TEST_CASE_TEMPLATE("in_kernel equals batched inference, in each precision", P, Full<double>,
                   Full<float>, Mixed<bf16, float>, Mixed<fp16, float>) {
  compare<Perceptron, P>();
  compare<NormalizedResidual, P>();
}
TEST_CASE_TEMPLATE("in_kernel equals batched inference, for each kind of step", P, Full<float>,
                   Mixed<bf16, float>) {
  compare<Rate, P>();
  compare<SmallLeNet, P>();
  compare<UNet, P>();
  compare<Classifier, P>();
  compare<Wide, P>();
}

namespace in_kernel_test {

template <class P, class Closure>
void call_heads(Space const& exec, Closure const& closure, Matrix<P> const& a, Matrix<P> const& b,
                Matrix<P> const& out, Matrix<P> const& out_flux) {
  Kokkos::parallel_for(
      "two heads", Kokkos::RangePolicy<Space>(exec, 0, samples), KOKKOS_LAMBDA(int n) {
        auto const y =
            closure(Kokkos::subview(a, n, Kokkos::ALL), Kokkos::subview(b, n, Kokkos::ALL));
        out(n, 0) = y.template get<rate>();
        for (int i = 0; i < 3; ++i) out_flux(n, i) = y.template get<flux>()[i];
      });
}

template <class P> void compare_heads() {
  Space const exec;
  Model<TwoHeads, P> model(exec, {.batch = 64, .seed = 3});
  perturb(exec, model);
  Matrix<P> a("state", samples, 3), b("forcing", samples, 2);
  Matrix<P> out("rate", samples, 1), out_flux("flux", samples, 3);
  Matrix<P> expected("expected rate", samples, 1), expected_flux("expected flux", samples, 3);
  fill(exec, a, 0.1);
  fill(exec, b, 0.2);
  model.infer(exec, tensors(named<state>(a), named<forcing>(b)),
              tensors(named<flux>(expected_flux), named<rate>(expected)));
  call_heads<P>(exec, model.in_kernel(), a, b, out, out_flux);
  CHECK(equal<P>(exec, out, expected));
  CHECK(equal<P>(exec, out_flux, expected_flux));
}

template <class P> void train_beside_kernels() {
  Space const exec;
  using Net = NormalizedBesideTraining;
  Trainer<Net, MeanSquaredError, Sgd, P> trainer(exec, Sgd{.rate = 0.05f},
                                                 {.batch = samples, .seed = 3});
  Matrix<P> x("x", samples, 3), wanted("wanted", samples, 2);
  Matrix<P> y("y", samples, 2), before("before", samples, 2), expected("expected", samples, 2);
  Matrix<P> frozen("frozen", samples, 2), first("first", samples, 2);
  fill(exec, x, 0.3);
  fill(exec, wanted, 0.9);
  auto const closure = trainer.model().in_kernel();  // once, before any training
  auto const snapshot = trainer.model().snapshot(exec);
  call_by_threads(exec, closure, x, first);
  for (int step = 0; step < 4; ++step) {
    call_by_threads(exec, closure, x, before);
    trainer.step(x, wanted);
    call_by_threads(exec, closure, x, y);  // of the same instance: after the step, no fence
    trainer.model().infer(exec, x, expected);
    CHECK(equal<P>(exec, y, expected));
    CHECK(difference(exec, y, before) > 1e-3);
  }
  call_by_threads(exec, snapshot.in_kernel(), x, frozen);
  CHECK(equal<P>(exec, frozen, first));
}

}  // namespace in_kernel_test

TEST_CASE_TEMPLATE("in_kernel of two inputs and two named outputs equals batched inference", P,
                   Full<double>, Mixed<bf16, float>) {
  compare_heads<P>();
}

TEST_CASE_TEMPLATE("a closure sees training steps, a snapshot does not", P, Full<float>,
                   Mixed<bf16, float>) {
  train_beside_kernels<P>();
}

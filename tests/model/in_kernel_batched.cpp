// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/model/model.hpp>

#include <doctest/doctest.h>
#include <model/in_kernel_calls.hpp>
#include <model/in_kernel_networks.hpp>
#include <rings.hpp>

#include <type_traits>

// The calls inside a user's kernels against batched inference of the same model.
namespace in_kernel_test {

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

TEST_CASE_TEMPLATE("in_kernel equals batched inference, in each precision", P,
                   Mixed<fp16, float> PHYLLO_IN_VERIFY(, Full<double>, Full<float>,
                                                       Mixed<bf16, float>)) {
  compare<Perceptron, P>();
  compare<NormalizedResidual, P>();
}
TEST_CASE_TEMPLATE("in_kernel equals batched inference, for each kind of step", P,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>)) {
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

}  // namespace in_kernel_test

TEST_CASE_TEMPLATE("in_kernel of two inputs and two named outputs equals batched inference", P,
                   Full<double> PHYLLO_IN_VERIFY(, Mixed<bf16, float>)) {
  compare_heads<P>();
}

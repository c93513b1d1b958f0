// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>
#include <phyllo/policy/precision.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

// A user's kernels that call a network, and what they are compared by.
namespace in_kernel_test {

using namespace phyllo;

using Space = Kokkos::DefaultExecutionSpace;
constexpr int samples = 37;

template <class P> using Matrix = Kokkos::View<typename P::accumulate**, Space>;

template <class M> void fill(Space const& exec, M const& m, double phase) {
  auto const host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, m);
  for (std::size_t n = 0; n < m.extent(0); ++n)
    for (std::size_t i = 0; i < m.extent(1); ++i)
      host(n, i) = std::sin(phase + 1.3 * double(n) + 0.7 * double(i) * double(n % 5 + 1));
  Kokkos::deep_copy(exec, m, host);
  exec.fence("fill");
}

template <class M> auto on_host(Space const& exec, M const& m) {
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

}  // namespace in_kernel_test

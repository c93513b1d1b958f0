// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <finite_difference.hpp>
#include <generic/registry.hpp>
#include <generic/subject.hpp>
#include <rings.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace phyllo::test {

template <class List> inline constexpr bool any_kink = false;
template <class... L> inline constexpr bool any_kink<TypeList<L...>> = (has_kink<L> || ...);

template <class List> inline constexpr int normalizations = 0;
template <class... L>
inline constexpr int normalizations<TypeList<L...>> = ((L::role == Role::normalization) + ... + 0);

/// Whether something divides by a deviation, of a batch or of channels.
template <class List> inline constexpr bool normalizes_any = false;
template <class... L>
inline constexpr bool normalizes_any<TypeList<L...>> =
    normalizations<TypeList<L...>> > 0 || ((normalizes<L> || normalizes_groups<L>) || ...);

/// Whether exponentials of scores weight values: rounding of a score counts times its size.
template <class List> inline constexpr bool attends = false;
template <class... L>
inline constexpr bool attends<TypeList<L...>> = ((L::role == Role::product) || ...);

/// Whether something draws normal numbers, which are floats in every precision: their last bit
/// depends on what a compiler contracts.
template <class List> inline constexpr bool draws_normal = false;
template <class... L>
inline constexpr bool draws_normal<TypeList<L...>> =
    ((op::detail::is_random<L> && L::role == Role::map) || ...);
template <class Net>
inline constexpr double exact =
    draws_normal<typename Net::program::leaves> && PHYLLO_FUSES_MULTIPLY_ADD ? 4e-7 : 1e-12;

/// |a - b| / |a| in norm; zero only where both are.
inline double distance(std::vector<double> const& a, std::vector<double> const& b) {
  if (a.size() != b.size()) return INFINITY;
  if (norm(a) == 0) return norm(b);
  return relative_error(a, b);
}

inline void compare(Results const& expected, Results const& got, double bound) {
  CHECK(distance(expected.outputs, got.outputs) <= bound);
  CHECK(distance(expected.d_inputs, got.d_inputs) <= bound);
  CHECK(distance(expected.d_parameters, got.d_parameters) <= bound);
  // Running statistics are floats in every precision.
  CHECK(distance(expected.statistics, got.statistics) <= std::max(bound, 0x1p-22));
  CHECK(distance(expected.inferred, got.inferred) <= bound);
}

inline constexpr int samples = 3;

/// The reference at a point whose derivatives exist within ten steps of differencing in every
/// variable: slopes over one step and over ten agree there, whatever the gradient says.
template <class Net> struct Smooth {
  using Reference = Subject<Net, Full<double>, ReferenceBackend, FusionLevel::none>;
  static constexpr bool smooth = !any_kink<typename Net::program::leaves>;

  template <class Differences> static unsigned seed(Differences const& differences) {
    for (unsigned s = 1; s < 50; ++s) {
      Reference r(samples, s);
      if (smooth) return s;
      auto const near = differences(r, difference_step);
      if (distance(near, differences(r, 10 * difference_step)) < 1e-6) return s;
    }
    return 0;
  }
};

/// Central differences in the inputs, then in the parameters.
template <class S> std::vector<double> all_differences(S& subject, double step) {
  auto const value = [&] { return subject.value(); };
  auto d = central_differences(subject.x().data(), subject.x().size(), value, step);
  auto const p = central_differences(subject.model().parameters().data(),
                                     subject.model().parameters().size(), value, step);
  d.insert(d.end(), p.begin(), p.end());
  return d;
}

/// Gradients of a network against central differences, and their order; returns the point's seed.
template <class Net> unsigned check_gradient() {
  using S = Smooth<Net>;
  unsigned const seed =
      S::seed([](auto& subject, double step) { return all_differences(subject, step); });
  REQUIRE(seed > 0);
  typename S::Reference subject(samples, seed);
  auto const r = subject.results();
  auto gradient = r.d_inputs;
  gradient.insert(gradient.end(), r.d_parameters.begin(), r.d_parameters.end());
  CHECK(relative_error(gradient, all_differences(subject, difference_step)) <= 1e-6);
  if constexpr (S::smooth) {
    double const coarse = relative_error(gradient, all_differences(subject, 1e-3));
    double const fine = relative_error(gradient, all_differences(subject, 1e-4));
    double const order = std::log10(coarse / fine);
    CHECK(order >= 1.9);
    CHECK(order <= 2.1);
  }
  return seed;
}

template <class Net, class Backend, FusionLevel Level>
void check_same(Results const& expected, unsigned seed) {
  CAPTURE(int(Level));
  CAPTURE(Backend::name);
  Subject<Net, Full<double>, Backend, Level> subject(samples, seed);
  auto const r = subject.results();
  compare(expected, r, exact<Net>);
  CHECK(subject.results().outputs == r.outputs);  // the same bits again
  Subject<Net, Full<double>, Backend, Level> other(samples, seed);
  CHECK(other.results() == r);
}

/// The backend that runs a network's segments, where it has any.
template <class Net>
inline constexpr bool has_segment = [] {
  constexpr auto plan = Planned<Net, Phase::inference, FusionLevel::tile, 8>::plan;
  for (int s = 0; s < plan.size; ++s)
    if (plan.step[s].kind == StepKind::segment) return true;
  return false;
}();
template <class Net>
using SegmentBackend = std::conditional_t<has_segment<Net>, DefaultBackend, PortableBackend>;

/// Relative to float64: a few rounding errors of the storage type per layer; gradients of kinked
/// networks are not compared in 16 bits, where a rounding may choose the other side.
template <class Net, class P> void check_precision(Results const& expected, unsigned seed) {
  Subject<Net, P, SegmentBackend<Net>, FusionLevel::tile> subject(samples, seed);
  auto const r = subject.results();
  using S = typename P::storage;
  constexpr double rounding = std::is_same_v<S, float>  ? 0x1p-24
                              : std::is_same_v<S, fp16> ? 0x1p-11
                                                        : 0x1p-8;
  using Leaves = typename Net::program::leaves;
  // Normalising three samples, or a few channels, divides by deviations that may be small. Backend
  // `reference` in float is up to 1.4e-6 off in an attention, 24 roundings; 16 bits keep the 8.
  constexpr double bound = rounding * (normalizes_any<Leaves>              ? 64
                                       : attends<Leaves> && sizeof(S) == 4 ? 24
                                                                           : 8);
  if (sizeof(S) == 2 && any_kink<Leaves>) {
    CHECK(distance(expected.outputs, r.outputs) <= bound);
    CHECK(distance(expected.inferred, r.inferred) <= bound);
  } else {
    compare(expected, r, bound);
  }
}

/// Calls by one thread and by a team against batched inference; those of integers, and of networks
/// with a matrix, do not compile.
template <class Net> void check_in_kernel(std::vector<double> const& expected, unsigned seed) {
  using S = Subject<Net, Full<double>, SegmentBackend<Net>, FusionLevel::tile>;
  if constexpr (!requires { typename Net::ports; } && !S::reads_integers && !S::has_matrix) {
    S subject(samples, seed);
    auto const closure = subject.model().in_kernel();
    Matrix const x = subject.x();
    Matrix by_thread("by thread", samples, std::size_t(Net::output.size()));
    Matrix by_team("by team", samples, std::size_t(Net::output.size()));
    Kokkos::parallel_for("by thread", Kokkos::RangePolicy<Space>(subject.exec(), 0, samples),
                         [=](int n) {
                           auto const y = closure(Kokkos::subview(x, n, Kokkos::ALL));
                           for (int i = 0; i < y.size(); ++i) by_thread(n, i) = y[i];
                         });
    using Policy = Kokkos::TeamPolicy<Space>;
    Policy policy(subject.exec(), samples, Kokkos::AUTO);
    policy.set_scratch_size(0, Kokkos::PerTeam(closure.scratch_bytes));
    Kokkos::parallel_for("by team", policy, [=](typename Policy::member_type const& member) {
      int const n = member.league_rank();
      closure(member, Kokkos::subview(x, n, Kokkos::ALL), Kokkos::subview(by_team, n, Kokkos::ALL));
    });
    subject.exec().fence("in kernel");
    auto const all = [](Matrix const& m) {
      return std::vector<double>(m.data(), m.data() + m.size());
    };
    CHECK(distance(expected, all(by_thread)) <= 1e-13);
    CHECK(distance(expected, all(by_team)) <= 1e-13);
  }
}

/// No sample: nothing but zero gradients. One: as the first of three, where samples are apart.
template <class Net> void check_small_batches(Results const& expected, unsigned seed) {
  using S = Subject<Net, Full<double>, SegmentBackend<Net>, FusionLevel::tile>;
  S none(0, seed);
  auto const nothing = none.results();
  CHECK(nothing.outputs.empty());
  CHECK(norm(nothing.d_parameters) == 0);
  S one(1, seed);
  auto const first = [](std::vector<double> v) {
    v.resize(v.size() / samples);
    return v;
  };
  auto const r = one.results();
  CHECK(distance(first(expected.inferred), r.inferred) <= 1e-13);
  if (normalizations<typename Net::program::leaves> == 0) {
    CHECK(distance(first(expected.outputs), r.outputs) <= exact<Net> / 10);
    CHECK(distance(first(expected.d_inputs), r.d_inputs) <= exact<Net>);
  }
}

/// Whether the two scales of fusion make two plans, of training or of inference.
template <class Net, FusionLevel A, FusionLevel B>
inline constexpr bool plans_differ = Planned<Net, Phase::training, A, 8>::plan.size !=
                                         Planned<Net, Phase::training, B, 8>::plan.size ||
                                     Planned<Net, Phase::inference, A, 8>::plan.size !=
                                         Planned<Net, Phase::inference, B, 8>::plan.size;

/// Everything that holds for every layer, of one of its networks; other types of storage of the
/// first, in verify bf16 of each.
template <class Net, bool IsFirst> void check_network() {
  INFO("network ", type_name<typename Net::program>());
  unsigned const seed = check_gradient<Net>();
  Subject<Net, Full<double>, ReferenceBackend, FusionLevel::none> reference(samples, seed);
  auto const expected = reference.results();
  check_same<Net, PortableBackend, FusionLevel::none>(expected, seed);
  if constexpr (all_cases && plans_differ<Net, FusionLevel::epilogue, FusionLevel::tile>)
    check_same<Net, PortableBackend, FusionLevel::epilogue>(expected, seed);
  if constexpr (all_cases || plans_differ<Net, FusionLevel::none, FusionLevel::segment>)
    check_same<Net, PortableBackend, FusionLevel::segment>(expected, seed);
  if constexpr (has_segment<Net>)
    check_same<Net, DefaultBackend, FusionLevel::tile>(expected, seed);
  if constexpr (IsFirst) {
    PHYLLO_IN_VERIFY(check_precision<Net, Full<float>>(expected, seed);)
    check_precision<Net, Mixed<bf16, float>>(expected, seed);
    PHYLLO_IN_VERIFY(check_precision<Net, Mixed<fp16, float>>(expected, seed);)
  } else {
    PHYLLO_IN_VERIFY(check_precision<Net, Mixed<bf16, float>>(expected, seed);)
  }
  check_in_kernel<Net>(expected.inferred, seed);
  check_small_batches<Net>(expected, seed);
}

template <class First, class... More> void check_layer(TypeList<First, More...>) {
  check_network<First, true>();
  (check_network<More, false>(), ...);
}

}  // namespace phyllo::test

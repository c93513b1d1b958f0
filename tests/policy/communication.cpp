// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/policy/communication.hpp>

#include <doctest/doctest.h>

#include <string>

static_assert(phyllo::Communication<phyllo::Local>);
static_assert(phyllo::Summable<float> && phyllo::Summable<double>);
static_assert(!phyllo::Summable<int> && !phyllo::Summable<float const>);

namespace {

// A policy with all but one call is none.
struct WithoutEpilogue {
  static constexpr char const* name = "WithoutEpilogue";
  static constexpr long bucket_bytes = 0;
  int rank() const { return 0; }
  int size() const { return 1; }
  template <class Space> void reserve(Space const&, long) {}
  template <class Space, class T> void sum(Space const&, T*, long) {}
  template <class Space, class T> void begin(Space const&, T*, long) {}
  void progress() {}
  long exclusive_sum(long) { return 0; }
};
static_assert(!phyllo::Communication<WithoutEpilogue>);

// What a pass does with its policy.
template <phyllo::Communication C, class T>
void one_step(C& communication, Kokkos::View<T*, Kokkos::HostSpace> const& data) {
  Kokkos::DefaultHostExecutionSpace const exec;
  long const count = long(data.size());
  communication.reserve(exec, count * long(sizeof(T)));
  communication.sum(exec, data.data(), count);
  communication.begin(exec, data.data(), count);
  communication.progress();
  communication.finish(exec);
}

template <class T> void is_unchanged_by_a_step() {
  phyllo::Local local;
  Kokkos::View<T*, Kokkos::HostSpace> const data("data", 17);
  for (int i = 0; i < 17; ++i) data(i) = T(i) / 3;
  one_step(local, data);
  for (int i = 0; i < 17; ++i) CHECK(data(i) == T(i) / 3);
}

}  // namespace

TEST_CASE("Local: one rank, whose sum is its own") {
  phyllo::Local local;
  CHECK(local.rank() == 0);
  CHECK(local.size() == 1);
  CHECK(local.exclusive_sum(12345) == 0);
  CHECK(std::string(phyllo::Local::name) == "Local");
  CHECK(phyllo::Local::bucket_bytes == 0);
  is_unchanged_by_a_step<float>();
  is_unchanged_by_a_step<double>();
}

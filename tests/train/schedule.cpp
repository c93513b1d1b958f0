// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <phyllo/train/schedule.hpp>
#include <sentence_of.hpp>
#include <string>
#include <type_traits>

using phyllo::test::sentence_of;

namespace {

struct Factors {
  phyllo::Schedule schedule;
  Kokkos::View<float*> factor;
  KOKKOS_FUNCTION void operator()(int step) const {
    factor(step) = schedule.factor(std::uint64_t(step));
  }
};

}  // namespace

TEST_CASE("a constant schedule is one after a linear warm-up") {
  static_assert(std::is_trivially_copyable_v<phyllo::Schedule>);
  CHECK(phyllo::Schedule{}.factor(0) == 1.0f);
  CHECK(phyllo::constant_schedule().factor(123456) == 1.0f);
  phyllo::Schedule const warm = phyllo::constant_schedule(4);
  float const expected[] = {0.25f, 0.5f, 0.75f, 1.0f, 1.0f};
  for (std::uint64_t step = 0; step < 5; ++step) CHECK(warm.factor(step) == expected[step]);
}

TEST_CASE("a step decay multiplies once a period") {
  phyllo::Schedule const decay = phyllo::step_decay_schedule(30, 0.5f);
  CHECK(decay.factor(0) == 1.0f);
  CHECK(decay.factor(29) == 1.0f);
  CHECK(decay.factor(30) == 0.5f);
  CHECK(decay.factor(89) == 0.25f);
  CHECK(decay.factor(90) == 0.125f);
  CHECK(decay.factor(std::uint64_t(1) << 40) == 0.0f);
  phyllo::Schedule const warm = phyllo::step_decay_schedule(2, 0.5f, 4);
  float const expected[] = {0.25f, 0.5f, 0.375f, 0.5f, 0.25f};
  for (std::uint64_t step = 0; step < 5; ++step) CHECK(warm.factor(step) == expected[step]);
}

TEST_CASE("a cosine falls from one to its floor") {
  phyllo::Schedule const cosine = phyllo::cosine_schedule(12);
  CHECK(cosine.factor(0) == 1.0f);
  CHECK(cosine.factor(4) == doctest::Approx(0.75));  // cos 60 degrees = 1/2
  CHECK(cosine.factor(6) == doctest::Approx(0.5));
  CHECK(cosine.factor(8) == doctest::Approx(0.25));
  CHECK(cosine.factor(12) == 0.0f);
  CHECK(cosine.factor(1000) == 0.0f);
  phyllo::Schedule const above = phyllo::cosine_schedule(22, 0.2f, 10);
  CHECK(above.factor(0) == doctest::Approx(0.1).epsilon(1e-15));
  CHECK(above.factor(9) == 1.0f);
  CHECK(above.factor(10) == 1.0f);
  CHECK(above.factor(14) == doctest::Approx(0.2 + 0.8 * 0.75));
  CHECK(above.factor(16) == doctest::Approx(0.6));
  CHECK(above.factor(21) > 0.2f);
  CHECK(above.factor(22) == 0.2f);
}

TEST_CASE("a schedule has the same factors in a kernel") {
  Kokkos::DefaultExecutionSpace const exec;
  for (phyllo::Schedule schedule :
       {phyllo::constant_schedule(7), phyllo::step_decay_schedule(10, 0.3f, 3),
        phyllo::cosine_schedule(50, 0.1f, 9)}) {
    Factors const factors{schedule, Kokkos::View<float*>("factors", 64)};
    Kokkos::parallel_for("factors", Kokkos::RangePolicy(exec, 0, 64), factors);
    exec.fence("factors");
    auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, factors.factor);
    // Computed in double: two platforms may differ in the rounding to float alone.
    for (int step = 0; step < 64; ++step) {
      double const expected = double(schedule.factor(std::uint64_t(step)));
      CHECK(std::fabs(double(got(step)) - expected) <=
            double(std::numeric_limits<float>::epsilon()) * expected);
    }
  }
}

TEST_CASE("impossible schedules are refused in a sentence") {
  CHECK(sentence_of([] { (void)phyllo::step_decay_schedule(0, 0.5f); }) ==
        "step_decay_schedule: the period must be at least 1 step, but it is 0.");
  CHECK(sentence_of([] { (void)phyllo::step_decay_schedule(1, 1.5f); }) ==
        "step_decay_schedule: the factor must be above 0 and at most 1, but it is 1.500000.");
  CHECK(sentence_of([] { (void)phyllo::cosine_schedule(10, 0.0f, 10); }) ==
        "cosine_schedule: the steps include the warm-up and must be more than its 10, but they "
        "are 10.");
  CHECK(sentence_of([] { (void)phyllo::cosine_schedule(10, -1.0f); }) ==
        "cosine_schedule: the floor must be from 0 to 1, but it is -1.000000.");
}

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <golden.hpp>
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

TEST_CASE("decays at milestones, in each step and by a power") {
  phyllo::Schedule const stairs = phyllo::multi_step_schedule({10, 20, 40}, 0.5, 2);
  double const expected[] = {0.5, 1, 0.5, 0.5, 0.25, 0.25, 0.125};
  std::uint64_t const at[] = {0, 1, 10, 19, 20, 39, 1000};
  for (int k = 0; k < 7; ++k) CHECK(stairs.factor(at[k]) == expected[k]);
  phyllo::Schedule const each = phyllo::exponential_schedule(0.5);
  for (std::uint64_t step = 0; step < 9; ++step)
    CHECK(each.factor(step) == std::ldexp(1.0, -int(step)));
  phyllo::Schedule const square = phyllo::polynomial_schedule(14, 2, 0.1, 4);
  CHECK(square.factor(0) == 0.25);
  CHECK(square.factor(4) == 1);
  CHECK(square.factor(9) == doctest::Approx(0.1 + 0.9 * 0.25).epsilon(1e-15));
  CHECK(square.factor(14) == 0.1);
  CHECK(phyllo::polynomial_schedule(10).factor(5) == 0.5);  // linear
}

TEST_CASE("cosines that restart, and one cycle") {
  phyllo::Schedule const restarts = phyllo::cosine_restarts_schedule(10, 2, 0.2, 2);
  CHECK(restarts.factor(0) == 0.5);
  CHECK(restarts.factor(2) == 1);
  CHECK(restarts.factor(6) == doctest::Approx(0.6));
  CHECK(restarts.factor(10) == 1);  // the second cycle has 16 steps
  CHECK(restarts.factor(18) == doctest::Approx(0.6));
  CHECK(restarts.factor(26) == 1);
  phyllo::Schedule const cycle = phyllo::one_cycle_schedule(21, 11, 0.25, 0.125);
  CHECK(cycle.factor(0) == 0.25);
  CHECK(cycle.factor(5) == doctest::Approx(0.625));
  CHECK(cycle.factor(10) == 1);
  CHECK(cycle.factor(15) == doctest::Approx(0.5625));
  CHECK(cycle.factor(20) == doctest::Approx(0.125));
  CHECK(cycle.factor(500) == 0.125);
}

TEST_CASE("two schedules as a product and one after the other") {
  using namespace phyllo;
  auto const steps = multi_step_schedule({5, 12}, 0.5), cosine = cosine_schedule(20, 0.1, 3);
  auto const each = exponential_schedule(0.9), cycle = one_cycle_schedule(9, 4);
  Schedule const pairs[][2] = {{steps, cosine},
                               {cosine, steps},
                               {each, cycle},
                               {cycle, each},
                               {constant_schedule(6), polynomial_schedule(18, 2, 0.2)}};
  for (auto const& pair : pairs) {
    Schedule const product = chained_schedule(pair[0], pair[1]);
    Schedule const sequence = sequential_schedule(pair[0], 7, pair[1]);
    for (std::uint64_t step = 0; step < 30; ++step) {
      CHECK(product.factor(step) == pair[0].factor(step) * pair[1].factor(step));
      CHECK(sequence.factor(step) == (step < 7 ? pair[0].factor(step) : pair[1].factor(step - 7)));
    }
  }
  CHECK(sentence_of([&] { (void)chained_schedule(steps, steps); }) ==
        "chained_schedule: expected at most one schedule with milestones, got two. Write one with "
        "the milestones of both.");
  CHECK(sentence_of([&] { (void)sequential_schedule(chained_schedule(each, cosine), 4, each); }) ==
        "sequential_schedule: expected two schedules that are no chains themselves. Call "
        "Trainer::set_rate before each step for longer ones.");
  CHECK(sentence_of([&] { (void)sequential_schedule(each, 0, each); }) ==
        "sequential_schedule: the first schedule must have at least 1 step, but it has 0.");
}

// Of tests/train/make_goldens.py, in 100 steps at the rate 0.3.
TEST_CASE("schedules are PyTorch's") {
  using namespace phyllo;
  struct Named {
    char const* name;
    Schedule schedule;
  };
  Named const all[] = {
      {"constant_warm_up", constant_schedule(20)},
      {"step", step_decay_schedule(15, 0.6)},
      {"step_warm_up", step_decay_schedule(15, 0.6, 10)},
      {"multi_step", multi_step_schedule({10, 45, 46, 90}, 0.3)},
      {"exponential", exponential_schedule(0.95)},
      {"polynomial", polynomial_schedule(80, 1.7)},
      {"linear", polynomial_schedule(60, 1, 0.2)},
      {"cosine", cosine_schedule(100, 0.01)},
      {"cosine_warm_up", cosine_schedule(100, 0.1, 10)},
      {"cosine_restarts", cosine_restarts_schedule(12, 2, 0.05)},
      {"one_cycle", one_cycle_schedule(100, 30, 1 / 20.0, 1 / 2000.0)},
      {"chained", chained_schedule(exponential_schedule(0.98), polynomial_schedule(50, 1, 0.3))},
      {"sequential",
       sequential_schedule(step_decay_schedule(7, 0.5), 40, exponential_schedule(0.9))}};
  for (Named const& one : all) {
    INFO(one.name);
    auto const wanted = test::golden("train/torch_schedules", one.name);
    REQUIRE(wanted.size() == 100);
    for (std::uint64_t step = 0; step < 100; ++step)
      CHECK(std::fabs(0.3 * one.schedule.factor(step) - wanted[step]) <= 1e-12);
  }
}

TEST_CASE("a schedule has the same factors in a kernel") {
  Kokkos::DefaultExecutionSpace const exec;
  for (phyllo::Schedule schedule :
       {phyllo::constant_schedule(7), phyllo::step_decay_schedule(10, 0.3f, 3),
        phyllo::cosine_schedule(50, 0.1f, 9), phyllo::multi_step_schedule({5, 30}, 0.3),
        phyllo::polynomial_schedule(40, 0.9, 0.01, 3),
        phyllo::cosine_restarts_schedule(9, 1.5, 0.1), phyllo::one_cycle_schedule(50, 20),
        phyllo::chained_schedule(phyllo::cosine_schedule(50), phyllo::exponential_schedule(0.9)),
        phyllo::sequential_schedule(phyllo::constant_schedule(7), 20,
                                    phyllo::multi_step_schedule({5, 30}, 0.3))}) {
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
  CHECK(sentence_of([] { (void)phyllo::multi_step_schedule({4, 4}, 0.5); }) ==
        "multi_step_schedule: milestones are steps above 0 that rise, but 4 follows 4.");
  CHECK(sentence_of([] { (void)phyllo::multi_step_schedule({}, 0.5); }) ==
        "multi_step_schedule: expected 1 to 6 milestones, got 0.");
  CHECK(sentence_of([] { (void)phyllo::exponential_schedule(0); }) ==
        "exponential_schedule: the factor must be above 0 and at most 1, but it is 0.000000.");
  CHECK(sentence_of([] { (void)phyllo::polynomial_schedule(9, 0); }) ==
        "polynomial_schedule: the power must be above 0, but it is 0.000000.");
  CHECK(sentence_of([] { (void)phyllo::cosine_restarts_schedule(9, 0.5); }) ==
        "cosine_restarts_schedule: the growth must be at least 1, but it is 0.500000.");
  CHECK(sentence_of([] { (void)phyllo::one_cycle_schedule(9, 9); }) ==
        "one_cycle_schedule: expected a rise of at least 1 step and fewer than all, got 9 of 9.");
  CHECK(sentence_of([] { (void)phyllo::cosine_schedule(10, 0.0f, 10); }) ==
        "cosine_schedule: the steps include the warm-up and must be more than its 10, but they "
        "are 10.");
  CHECK(sentence_of([] { (void)phyllo::cosine_schedule(10, -1.0f); }) ==
        "cosine_schedule: the floor must be from 0 to 1, but it is -1.000000.");
}

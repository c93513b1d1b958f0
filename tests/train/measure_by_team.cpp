// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The optimizer's first pass as devices run it, by teams of a host's threads, against the pass of
// processors.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
constexpr float infinite = std::numeric_limits<float>::infinity();

struct Arena {
  std::vector<float> gradients;  // op::Tail behind them
  StepState state{.loss_scale = 1024};
  std::vector<float> squares;
  std::vector<int> finite;  // behind them the teams that have finished
  int blocks;
  long block;

  Arena(long size, long of_block, float samples)
      : gradients(std::size_t(size + op::Tail::size)),
        blocks(int((size + of_block - 1) / of_block)),
        block(of_block) {
    for (long i = 0; i < size; ++i)
      gradients[std::size_t(i)] = 2000 * float(random_uniform(3, 1, 0, std::uint64_t(i), 0)) - 900;
    gradients[std::size_t(size)] = samples;
    squares.assign(std::size_t(blocks), std::numeric_limits<float>::quiet_NaN());
    finite.assign(std::size_t(blocks + 1), 7);
    finite.back() = 0;
  }
  long size() const { return long(gradients.size()) - op::Tail::size; }
};

using Advance = AdvanceState<Adam, float, true>;

Advance advance(Arena& arena) {
  return {Adam{.rate = 0.5f},
          LossScaling{.interval = 2},
          Clipping{.largest_norm = 2},
          &arena.state,
          arena.squares.data(),
          arena.finite.data(),
          arena.blocks,
          arena.gradients.data() + arena.size()};
}

template <class Finish> void by_teams(Arena& arena, Finish const& finish) {
  Space const exec;
  Kokkos::parallel_for(
      "measure", Kokkos::TeamPolicy<Space>(exec, arena.blocks, Kokkos::AUTO),
      MeasureByTeam<float, Finish>{arena.gradients.data(), &arena.state,
                                   arena.gradients.data() + arena.size(), arena.squares.data(),
                                   arena.finite.data(), arena.finite.data() + arena.blocks,
                                   arena.size(), arena.block, finish});
  exec.fence("measure");
}
void by_teams(Arena& arena) { by_teams(arena, advance(arena)); }

void by_processor(Arena& arena) {
  MeasureGradients<float, 64> const measure{arena.gradients.data(),
                                            &arena.state,
                                            arena.gradients.data() + arena.size(),
                                            arena.squares.data(),
                                            arena.finite.data(),
                                            arena.size(),
                                            arena.block};
  for (int b = 0; b < arena.blocks; ++b) measure(b);
  advance(arena)(0);
}

void check_equal(StepState const& got, StepState const& wanted) {
  CHECK(got.gradient_norm == doctest::Approx(wanted.gradient_norm).epsilon(1e-5));
  CHECK(got.gradient_factor == doctest::Approx(wanted.gradient_factor).epsilon(1e-5));
  CHECK(got.step == wanted.step);
  CHECK(got.skipped == wanted.skipped);
  CHECK(got.finite == wanted.finite);
  CHECK(got.loss_scale == wanted.loss_scale);
  CHECK(got.learning_rate == wanted.learning_rate);
  CHECK(got.rule_numbers<AdamMoments::Corrections>().second ==
        wanted.rule_numbers<AdamMoments::Corrections>().second);
}

}  // namespace

TEST_CASE("teams measure gradients and advance the step as a processor does") {
  for (long const size : {1L, 63L, 64L, 1000L, 70'001L})
    for (long const block : {64L, 1024L}) {
      CAPTURE(size);
      CAPTURE(block);
      Arena teams(size, block, 3), processor(size, block, 3);
      for (int step = 0; step < 3; ++step) {  // what counts the teams begins anew
        by_teams(teams);
        by_processor(processor);
        check_equal(teams.state, processor.state);
        CHECK(teams.finite.back() == 0);
      }
      CHECK(teams.state.step == 3);
    }
}

TEST_CASE("teams collect what ranks agree on") {
  for (float const first : {1.0f, infinite}) {
    Arena arena(5000, 512, 2), processor(5000, 512, 2);
    arena.gradients[4000] = processor.gradients[4000] = first;
    float totals[2] = {-1, -1};
    by_teams(arena, CollectMeasures<float>{arena.squares.data(), arena.finite.data(), arena.blocks,
                                           totals});
    by_processor(processor);
    CHECK(totals[1] == (first == infinite ? 1 : 0));
    if (first == 1.0f)
      CHECK(std::sqrt(totals[0]) == doctest::Approx(processor.state.gradient_norm).epsilon(1e-5));
    CHECK(arena.state.step == 0);
    CHECK(arena.finite.back() == 0);
  }
}

TEST_CASE("a gradient that is infinite or not a number is seen wherever it stands") {
  for (float const bad : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN()})
    for (long const place : {0L, 511L, 3000L, 4999L}) {
      CAPTURE(place);
      Arena teams(5000, 512, 2), processor(5000, 512, 2);
      teams.gradients[std::size_t(place)] = processor.gradients[std::size_t(place)] = bad;
      by_teams(teams);
      by_processor(processor);
      CHECK(teams.state.finite == 0);
      CHECK(teams.state.skipped == 1);
      CHECK(teams.state.loss_scale == 512);
      CHECK(teams.state.step == processor.state.step);
    }
}

TEST_CASE("finite gradients whose squares are not do not skip the step") {
  Arena teams(100, 64, 1e-6f), processor(100, 64, 1e-6f);
  teams.gradients[70] = processor.gradients[70] = 1e30f;
  by_teams(teams);
  by_processor(processor);
  CHECK(teams.state.finite == processor.state.finite);
  CHECK(teams.state.gradient_factor == processor.state.gradient_factor);
}

TEST_CASE("without samples nothing is counted") {
  Arena teams(5000, 512, 0);
  by_teams(teams);
  CHECK(teams.state.step == 0);
  CHECK(teams.state.skipped == 1);
  CHECK(teams.state.loss_scale == 1024);
}

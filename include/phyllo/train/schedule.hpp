// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_MathematicalConstants.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>
#include <initializer_list>
#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// A factor on the learning rate as a function of the number of steps taken; made by the functions
/// below, whose names end in `_schedule`.
///
/// numerics in double; trivially copyable, host and device alike
/// cost     at most one cosine or one power in each step, two of a chain
/// source   that of each function
struct Schedule {
  enum class Kind : std::uint32_t {
    constant,
    step_decay,
    multi_step,
    polynomial,
    cosine,
    cosine_restarts,
    one_cycle
  };
  /// How the second schedule of a chain is used: times the first, or from a step on instead of it.
  enum class Link : std::uint32_t { none, times, then };
  static constexpr int most_milestones = 6;

  Kind kind = Kind::constant;
  double ratio = 1;          // of decays: their factor; else the factor at the end
  std::uint64_t period = 1;  // steps: between two decays; of the first cycle; of the whole schedule
  std::uint64_t warmup = 0;  // steps of linear growth at the start; of one cycle: of its rise
  double shape =
      1;  // polynomial: power; restarts: growth of a cycle; one cycle: factor at the start
  std::uint64_t milestone[most_milestones] = {};  // multi-step; 0: none

  Link link = Link::none;
  // The second one's; it may have the milestones.
  Kind second_kind = Kind::constant;
  double second_ratio = 1;
  std::uint64_t second_period = 1, second_warmup = 0;
  double second_shape = 1;
  std::uint64_t begin = 0;  // of Link::then

  /// The factor of the step that follows `step` finished ones.
  PHYLLO_FUNCTION double factor(std::uint64_t step) const {
    if (link == Link::then && step >= begin) return second().own_factor(step - begin);
    return link == Link::times ? own_factor(step) * second().own_factor(step) : own_factor(step);
  }

 private:
  PHYLLO_FUNCTION Schedule second() const {
    Schedule s = *this;
    s.kind = second_kind;
    s.ratio = second_ratio;
    s.period = second_period;
    s.warmup = second_warmup;
    s.shape = second_shape;
    return s;
  }
  PHYLLO_FUNCTION double own_factor(std::uint64_t step) const {
    if (kind == Kind::one_cycle) return cycle(step);
    double result = 1;
    if (kind == Kind::step_decay) {
      result = Kokkos::pow(ratio, double(step / period));
    } else if (kind == Kind::multi_step) {
      for (std::uint64_t const m : milestone)
        if (m > 0 && step >= m) result *= ratio;
    } else if (kind == Kind::polynomial) {
      double const left = step >= period ? 0 : 1 - progress(step);
      result = ratio + (1 - ratio) * Kokkos::pow(left, shape);
    } else if (kind == Kind::cosine) {
      result = step >= period ? ratio : between(1, ratio, progress(step));
    } else if (kind == Kind::cosine_restarts && step > warmup) {
      double at = double(step - warmup), length = double(period - warmup);
      while (at >= length) {
        at -= length;
        length *= shape;
      }
      result = between(1, ratio, at / length);
    }
    if (step < warmup) result *= double(step + 1) / double(warmup);
    return result;
  }
  // From 0 to 1 over the steps after the warm-up.
  PHYLLO_FUNCTION double progress(std::uint64_t step) const {
    return step <= warmup ? 0 : double(step - warmup) / double(period - warmup);
  }
  // Half of a cosine from one factor to another.
  PHYLLO_FUNCTION static double between(double from, double to, double progress) {
    return to + (from - to) * 0.5 * (1 + Kokkos::cos(Kokkos::numbers::pi_v<double> * progress));
  }
  PHYLLO_FUNCTION double cycle(std::uint64_t step) const {
    double const rise = double(warmup) - 1, fall = double(period - warmup);
    if (double(step) <= rise) return between(shape, 1, rise > 0 ? double(step) / rise : 1);
    return step >= period ? ratio : between(1, ratio, (double(step) - rise) / fall);
  }
};

/// Always 1, after `warmup` steps of linear growth: min((step + 1) / warmup, 1).
///
/// source   warm-up: Goyal et al., Accurate, Large Minibatch SGD, arXiv:1706.02677 (2017), §2.2
inline Schedule constant_schedule(std::uint64_t warmup = 0) {
  return {Schedule::Kind::constant, 1.0, 1, warmup};
}

/// factor^step: a decay in each step.
///
/// errors   run: a factor that is not in (0, 1]
/// source   Bottou, Curtis and Nocedal, SIAM Review 60 (2018) 223, §4
inline Schedule exponential_schedule(double factor, std::uint64_t warmup = 0) {
  if (!(factor > 0 && factor <= 1))
    throw Error("exponential_schedule: the factor must be above 0 and at most 1, but it is " +
                std::to_string(factor) + ".");
  return {Schedule::Kind::step_decay, factor, 1, warmup};
}

/// factor^floor(step / period), after `warmup` steps of linear growth.
///
/// errors   run: period of zero steps; a factor that is not in (0, 1]
/// source   Goyal et al., arXiv:1706.02677 (2017), §5.1 (a tenth at the 30th, 60th and 80th epoch)
inline Schedule step_decay_schedule(std::uint64_t period, double factor, std::uint64_t warmup = 0) {
  if (period == 0)
    throw Error("step_decay_schedule: the period must be at least 1 step, but it is 0.");
  if (!(factor > 0 && factor <= 1))
    throw Error("step_decay_schedule: the factor must be above 0 and at most 1, but it is " +
                std::to_string(factor) + ".");
  return {Schedule::Kind::step_decay, factor, period, warmup};
}

/// factor^(number of milestones that are reached), after `warmup` steps of linear growth.
///
/// errors   run: no milestone, more than 6, or some that do not rise; a factor not in (0, 1]
/// source   He et al., "Deep Residual Learning", CVPR 2016, §4.2
inline Schedule multi_step_schedule(std::initializer_list<std::uint64_t> milestones, double factor,
                                    std::uint64_t warmup = 0) {
  Schedule s{Schedule::Kind::multi_step, factor, 1, warmup};
  if (milestones.size() < 1 || milestones.size() > std::size_t(Schedule::most_milestones))
    throw Error("multi_step_schedule: expected 1 to " + std::to_string(Schedule::most_milestones) +
                " milestones, got " + std::to_string(milestones.size()) + ".");
  std::uint64_t before = 0;
  int k = 0;
  for (std::uint64_t const m : milestones) {
    if (m <= before)
      throw Error("multi_step_schedule: milestones are steps above 0 that rise, but " +
                  std::to_string(m) + " follows " + std::to_string(before) + ".");
    s.milestone[k++] = before = m;
  }
  if (!(factor > 0 && factor <= 1))
    throw Error("multi_step_schedule: the factor must be above 0 and at most 1, but it is " +
                std::to_string(factor) + ".");
  return s;
}

namespace detail {

inline void check_span(char const* who, std::uint64_t steps, std::uint64_t warmup, double floor) {
  if (steps <= warmup)
    throw Error(std::string(who) + ": the steps include the warm-up and must be more than its " +
                std::to_string(warmup) + ", but they are " + std::to_string(steps) + ".");
  if (!(floor >= 0 && floor <= 1))
    throw Error(std::string(who) + ": the floor must be from 0 to 1, but it is " +
                std::to_string(floor) + ".");
}

}  // namespace detail

/// floor + (1 - floor) (1 - t)^power with t from 0 to 1 over the steps after the warm-up, then
/// floor; power 1 is linear.
///
/// errors   run: no step after the warm-up; a floor that is not in [0, 1]; a power not above 0
/// source   Liu, Rabinovich and Berg, "ParseNet", arXiv:1506.04579, §4.1
inline Schedule polynomial_schedule(std::uint64_t steps, double power = 1, double floor = 0,
                                    std::uint64_t warmup = 0) {
  detail::check_span("polynomial_schedule", steps, warmup, floor);
  if (!(power > 0))
    throw Error("polynomial_schedule: the power must be above 0, but it is " +
                std::to_string(power) + ".");
  return {Schedule::Kind::polynomial, floor, steps, warmup, power};
}

/// A cosine from 1 to floor again and again, floor + (1 - floor) (1 + cos(pi t)) / 2 with t from 0
/// to 1 in each cycle: the first cycle ends at `steps`, which include the warm-up; each is `growth`
/// times as long as the one before.
///
/// errors   run: no step after the warm-up; a floor that is not in [0, 1]; a growth below 1
/// source   Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5
inline Schedule cosine_restarts_schedule(std::uint64_t steps, double growth = 1, double floor = 0,
                                         std::uint64_t warmup = 0) {
  detail::check_span("cosine_restarts_schedule", steps, warmup, floor);
  if (!(growth >= 1))
    throw Error("cosine_restarts_schedule: the growth must be at least 1, but it is " +
                std::to_string(growth) + ".");
  return {Schedule::Kind::cosine_restarts, floor, steps, warmup, growth};
}

/// Half of a cosine from `start` up to 1 in `rise` steps, another down to `end` in the rest:
/// b + (a - b) (1 + cos(pi t)) / 2 from a to b, t from 0 to 1. The rate of the rule is the largest
/// one.
///
/// errors   run: no step up or down; factors that are not in [0, 1]
/// numerics as torch's OneCycleLR, whose momentum follows another cycle; here it is constant
/// source   Smith and Topin, "Super-Convergence", arXiv:1708.07120
inline Schedule one_cycle_schedule(std::uint64_t steps, std::uint64_t rise, double start = 0.04,
                                   double end = 4e-6) {
  if (rise == 0 || steps <= rise)
    throw Error("one_cycle_schedule: expected a rise of at least 1 step and fewer than all, got " +
                std::to_string(rise) + " of " + std::to_string(steps) + ".");
  if (!(start >= 0 && start <= 1 && end >= 0 && end <= 1))
    throw Error("one_cycle_schedule: the factors at the start and the end must be from 0 to 1.");
  return {Schedule::Kind::one_cycle, end, steps, rise, start};
}

/// floor + (1 - floor) (1 + cos(pi t)) / 2 with t from 0 to 1 over the steps after the warm-up,
/// then floor; the `warmup` steps of linear growth are part of `steps`.
///
/// errors   run: no step after the warm-up; a floor that is not in [0, 1]
/// source   Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5 (without restarts); warm-up: Goyal et
///          al., arXiv:1706.02677 (2017), §2.2
inline Schedule cosine_schedule(std::uint64_t steps, double floor = 0, std::uint64_t warmup = 0) {
  detail::check_span("cosine_schedule", steps, warmup, floor);
  return {Schedule::Kind::cosine, floor, steps, warmup};
}

namespace detail {

inline Schedule link(char const* who, Schedule s, Schedule const& second, Schedule::Link how,
                     std::uint64_t begin) {
  using Kind = Schedule::Kind;
  if (s.link != Schedule::Link::none || second.link != Schedule::Link::none)
    throw Error(std::string(who) +
                ": expected two schedules that are no chains themselves. Call Trainer::set_rate "
                "before each step for longer ones.");
  if (s.kind == Kind::multi_step && second.kind == Kind::multi_step)
    throw Error(std::string(who) +
                ": expected at most one schedule with milestones, got two. Write one with the "
                "milestones of both.");
  if (second.kind == Kind::multi_step)
    for (int k = 0; k < Schedule::most_milestones; ++k) s.milestone[k] = second.milestone[k];
  s.link = how;
  s.second_kind = second.kind;
  s.second_ratio = second.ratio;
  s.second_period = second.period;
  s.second_warmup = second.warmup;
  s.second_shape = second.shape;
  s.begin = begin;
  return s;
}

}  // namespace detail

/// The product of two schedules: first(step) second(step).
///
/// errors   run: a chain in a chain; two schedules with milestones
/// source   torch.optim.lr_scheduler.ChainedScheduler, for factors that do not depend on the rate
inline Schedule chained_schedule(Schedule const& first, Schedule const& second) {
  return detail::link("chained_schedule", first, second, Schedule::Link::times, 0);
}

/// The first schedule for so many steps, then the second from its beginning: second(step - steps).
///
/// errors   run: no step; a chain in a chain; two schedules with milestones
/// source   torch.optim.lr_scheduler.SequentialLR
inline Schedule sequential_schedule(Schedule const& first, std::uint64_t steps,
                                    Schedule const& second) {
  if (steps == 0)
    throw Error("sequential_schedule: the first schedule must have at least 1 step, but it has 0.");
  return detail::link("sequential_schedule", first, second, Schedule::Link::then, steps);
}

}  // namespace phyllo::inline PHYLLO_ISA

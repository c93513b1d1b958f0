// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_MathematicalConstants.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>
#include <phyllo/core/error.hpp>
#include <phyllo/core/macros.hpp>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// A factor on the learning rate as a function of the number of steps taken; made by
/// `constant_schedule`, `step_decay_schedule` and `cosine_schedule`.
///
/// numerics in double; trivially copyable, host and device alike
/// cost     at most one cosine or one power in each step
struct Schedule {
  enum class Kind : std::uint32_t { constant, step_decay, cosine };

  Kind kind = Kind::constant;
  double ratio = 1;          // step decay: factor of each period; cosine: factor at the end
  std::uint64_t period = 1;  // steps: between two decays; of the whole schedule
  std::uint64_t warmup = 0;  // steps of linear growth at the start

  /// The factor of the step that follows `step` finished ones.
  PHYLLO_FUNCTION double factor(std::uint64_t step) const {
    double result = 1;
    if (kind == Kind::step_decay) {
      result = Kokkos::pow(ratio, double(step / period));
    } else if (kind == Kind::cosine && step >= period) {
      result = ratio;
    } else if (kind == Kind::cosine && step > warmup) {
      double const progress = double(step - warmup) / double(period - warmup);
      double const cosine = Kokkos::cos(Kokkos::numbers::pi_v<double> * progress);
      result = ratio + (1 - ratio) * 0.5 * (1 + cosine);
    }
    if (step < warmup) result *= double(step + 1) / double(warmup);
    return result;
  }
};

/// Always 1, after `warmup` steps of linear growth.
///
/// source   warm-up: Goyal et al., Accurate, Large Minibatch SGD, arXiv:1706.02677 (2017), §2.2
inline Schedule constant_schedule(std::uint64_t warmup = 0) {
  return {Schedule::Kind::constant, 1.0, 1, warmup};
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

/// floor + (1 - floor) (1 + cos(pi t)) / 2 with t from 0 to 1 over the steps after the warm-up,
/// then floor; the `warmup` steps of linear growth are part of `steps`.
///
/// errors   run: no step after the warm-up; a floor that is not in [0, 1]
/// source   Loshchilov and Hutter, SGDR, ICLR 2017, eq. 5 (without restarts); warm-up: Goyal et
///          al., arXiv:1706.02677 (2017), §2.2
inline Schedule cosine_schedule(std::uint64_t steps, double floor = 0, std::uint64_t warmup = 0) {
  if (steps <= warmup)
    throw Error("cosine_schedule: the steps include the warm-up and must be more than its " +
                std::to_string(warmup) + ", but they are " + std::to_string(steps) + ".");
  if (!(floor >= 0 && floor <= 1))
    throw Error("cosine_schedule: the floor must be from 0 to 1, but it is " +
                std::to_string(floor) + ".");
  return {Schedule::Kind::cosine, floor, steps, warmup};
}

}  // namespace phyllo::inline PHYLLO_ISA

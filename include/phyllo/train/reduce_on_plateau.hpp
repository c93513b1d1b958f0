// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <limits>

namespace phyllo::inline PHYLLO_ISA {

/// Lowers the learning rate where a held-out loss has stopped falling, to max(factor rate,
/// smallest): trainer.set_rate(plateau(rate, loss)) after each evaluation.
///
/// options  factor = 0.1 on the rate · patience = 10 evaluations without progress that are accepted
///          · threshold = 1e-4: progress is a loss below best (1 - threshold) · smallest = 0: bound
///          of the rate · cooldown = 0 evaluations after a reduction that are not counted
/// state    the best loss, the evaluations since and those that still rest: keep them with a
///          checkpoint
/// threads  one thread at a time
/// errors   none; a loss that is not a number is no progress
/// source   torch.optim.lr_scheduler.ReduceLROnPlateau, PyTorch 2.14, with its defaults; where the
///          best loss is below zero, progress is a still smaller one. PyTorch keeps a rate that
///          would fall by 1e-8 or less
struct ReduceOnPlateau {
  double factor = 0.1;
  int patience = 10;
  double threshold = 1e-4;
  double smallest = 0;
  int cooldown = 0;
  double best = std::numeric_limits<double>::infinity();
  int waited = 0, resting = 0;

  /// The rate that follows `rate` after an evaluation.
  double operator()(double rate, double loss) {
    bool const first = best == std::numeric_limits<double>::infinity();
    if (first ? loss < best : loss < best - threshold * (best < 0 ? -best : best)) {
      best = loss;
      waited = 0;
    } else {
      ++waited;
    }
    if (resting > 0) {
      --resting;
      waited = 0;
    }
    if (waited > patience) {
      waited = 0;
      resting = cooldown;
      rate = rate * factor > smallest ? rate * factor : smallest;
    }
    return rate;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

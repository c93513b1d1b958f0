// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Dynamic loss scaling: a factor on the loss that keeps 16-bit gradients above zero. It halves
/// when a gradient overflows, and that step is skipped. It doubles after `interval` steps without
/// overflow.
///
/// options  initial · interval · largest
/// numerics powers of two: scaling is exact; never below one
/// source   Micikevicius et al., "Mixed Precision Training", ICLR 2018, §3.2
struct LossScaling {
  float initial = 65536;
  Misspelt<Option::initial> init_scale = {}, scale = {};
  int interval = 2000;
  Misspelt<Option::interval> growth_interval = {};
  float largest = 16777216;
  Misspelt<Option::largest> max_scale = {};

  PHYLLO_FUNCTION void adapt(StepState& state) const {
    if (state.finite == 0) {
      state.loss_scale = state.loss_scale > 2 ? state.loss_scale / 2 : 1;
      state.steps_since_overflow = 0;
    } else if (++state.steps_since_overflow >= interval) {
      if (state.loss_scale < largest) state.loss_scale *= 2;
      state.steps_since_overflow = 0;
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

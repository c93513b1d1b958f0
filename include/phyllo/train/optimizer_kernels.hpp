// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/loss_scaling.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo {

struct SetLossScale {
  StepState* state = nullptr;
  float scale = 1;
  KOKKOS_FUNCTION void operator()(int) const { state->loss_scale = scale; }
};

/// One work item: one block of the gradient arena; 1 if all of it is finite.
template <class T> struct CheckFinite {
  T const* gradients = nullptr;
  int* finite = nullptr;  // (blocks)
  int size = 0;
  int blocks = 1;

  KOKKOS_FUNCTION void operator()(int b) const {
    long const first = long(size) * b / blocks, last = long(size) * (b + 1) / blocks;
    int all = 1;
    // x - x is zero for finite numbers only.
    for (long i = first; i < last; ++i) all &= gradients[i] - gradients[i] == T(0);
    finite[b] = all;
  }
};

/// The block of numbers that change per step: whether the step counts, its learning rate, the
/// factor that turns summed and scaled gradients into their mean.
template <class Rule, class T, bool ScalesLoss> struct AdvanceState {
  Rule rule;
  LossScaling scaling;
  StepState* state = nullptr;
  int const* finite = nullptr;  // (blocks)
  int blocks = 0;
  T const* tail = nullptr;  // samples of all ranks first

  KOKKOS_FUNCTION void operator()(int) const {
    StepState s = *state;
    s.finite = 1;
    for (int b = 0; b < blocks; ++b) s.finite &= finite[b];
    T const samples = tail[0];
    s.gradient_factor = samples > T(0) ? float(T(1) / (samples * T(s.loss_scale))) : 0;
    bool const counts = s.finite != 0 && samples > T(0);
    if constexpr (ScalesLoss) {
      if (samples > T(0)) scaling.adapt(s);
    }
    if (counts) {
      s.learning_rate = rule.rate * rule.schedule.factor(s.step);
      ++s.step;
      rule.prepare(s);
    } else {
      s.finite = 0;
      ++s.skipped;
    }
    *state = s;
  }
};

/// One work item: `Run` parameters, one on a GPU and on a processor enough for its vectors;
/// unscale, update, and round to what kernels read.
template <class Rule, class Storage, class T, int Run> struct UpdateParameters {
  Rule rule;
  StepState const* state = nullptr;
  T const* gradients = nullptr;
  T* rule_state = nullptr;  // (Rule::states, size)
  long size = 0;
  T* master = nullptr;
  Storage* parameters = nullptr;

  KOKKOS_FUNCTION void operator()(int item) const {
    StepState const s = *state;
    if (s.finite == 0) return;
    long const first = long(item) * Run, last = first + Run < size ? first + Run : size;
    PHYLLO_SIMD(16)
    for (long i = first; i < last; ++i) {
      T const g = gradients[i] * T(s.gradient_factor);
      T const w = rule.update(master[i], g, rule_state + i, size, s);
      master[i] = w;
      parameters[i] = Storage(w);
    }
  }
};

}  // namespace phyllo

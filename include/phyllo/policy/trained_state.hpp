// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/step_state.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What training changes, as communication policies see it. All pointers are into memory of the
/// execution space, and stay the same for a trainer's life.
///
/// options  T: the precision's accumulate, the type of weights and exchanges · S: its storage
/// state    none of its own; if S is T, weights and parameters are one array
template <class T, class S> struct TrainedState {
  using accumulate = T;
  using storage = S;

  T* weights = nullptr;     // (size), unrounded
  S* parameters = nullptr;  // (size), what kernels read: the weights themselves where S is T
  T* gradients =
      nullptr;    // (size), and behind them the numbers of samples, loss and correct predictions
  long size = 0;  // parameters
  T* rule_state = nullptr;   // (rule_states, size of this rank's share)
  int rule_states = 0;       // numbers per parameter: momentum, moments
  float* buffers = nullptr;  // (buffer_size), running statistics, without constants
  long buffer_size = 0;
};

/// A weight. Where ranks share parameters, those of another rank's share are known as they were
/// rounded, and `master` is of an earlier step.
template <class T, class S> PHYLLO_INLINE T current_weight(T master, S parameter) {
  T const rounded = T(parameter);
  return T(S(master)) == rounded ? master : rounded;
}

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/rounding.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/train/clipping.hpp>
#include <phyllo/train/loss_scaling.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// The StepState of a new optimizer, which may follow another one of the same model: only the
/// numbers of random masks go on.
struct BeginSteps {
  StepState* state = nullptr;
  float scale = 1;
  KOKKOS_FUNCTION void operator()(int) const {
    StepState s;
    s.seed = state->seed;
    s.forward = state->forward;
    s.first_sample = state->first_sample;
    s.untold_labels = state->untold_labels;
    s.loss_scale = scale;
    *state = s;
  }
};

struct SetRate {
  StepState* state = nullptr;
  double rate = -1;
  KOKKOS_FUNCTION void operator()(int) const { state->rate = rate; }
};

/// The loss scale of the gradients of an update.
PHYLLO_INLINE float gradient_scale(StepState const& state) {
  return state.late_scale > 0 ? state.late_scale : state.loss_scale;
}

/// The factor from summed and scaled gradients to their mean; zero if no rank had a sample.
template <class T> PHYLLO_INLINE T mean_factor(StepState const& state, T samples) {
  return samples > T(0) ? T(1) / (samples * T(gradient_scale(state))) : T(0);
}

/// One work item of a processor: one block of the gradient arena; whether all of it is finite, and
/// the sum of the squares of the mean gradient in `Lanes` partial sums, enough for its vectors.
template <class T, int Lanes> struct MeasureGradients {
  T const* gradients = nullptr;
  StepState const* state = nullptr;
  T const* tail = nullptr;  // samples of all ranks first
  T* squares = nullptr;     // (blocks)
  int* finite = nullptr;    // (blocks)
  long size = 0;
  long block = 0;  // parameters in a block, a multiple of Lanes

  KOKKOS_FUNCTION void operator()(int b) const {
    using Bits = typename detail::WideFormat<T>::Bits;
    // One more than the largest exponent reaches the sign bit: integers only, which the compiler
    // may gather in any order, and no assumption of its own about infinities.
    constexpr Bits one = Bits(1) << detail::WideFormat<T>::fraction_bits;
    constexpr Bits exponent = Bits(2 * detail::WideFormat<T>::bias + 1) * one;
    T const factor = mean_factor(*state, tail[0]);
    long const first = long(b) * block, last = first + block < size ? first + block : size;
    T sum[Lanes] = {};
    Bits above[Lanes] = {};
    long i = first;
    for (; i + Lanes <= last; i += Lanes) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int l = 0; l < Lanes; ++l) {
        T const g = gradients[i + l], mean = g * factor;
        above[l] |= (Kokkos::bit_cast<Bits>(g) & exponent) + one;
        sum[l] += mean * mean;
      }
    }
    T total = 0;
    Bits any = 0;
    for (; i < last; ++i) {
      T const mean = gradients[i] * factor;
      any |= (Kokkos::bit_cast<Bits>(gradients[i]) & exponent) + one;
      total += mean * mean;
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int l = 0; l < Lanes; ++l) {
      total += sum[l];
      any |= above[l];
    }
    squares[b] = total;
    finite[b] = (any >> (8 * sizeof(Bits) - 1)) == 0;
  }
};

/// Limits the mean gradient, whose sum and scale are in `gradients`, to +-largest. With zero it
/// sets those of frozen parameters to zero, whatever they are, so that no norm contains them.
template <class T> struct LimitGradients {
  T* gradients = nullptr;
  StepState const* state = nullptr;  // of this step
  double largest = 0;
  KOKKOS_FUNCTION void operator()(int i) const {
    if (largest == 0) {
      gradients[i] = T(0);
    } else if (state->finite != 0) {
      T const bound = T(largest / state->gradient_factor), g = gradients[i];
      gradients[i] = g > bound ? bound : g < -bound ? -bound : g;
    }
  }
};

/// The block of numbers that change per step: whether the step counts, its learning rate, the
/// norm of the gradient, the factor that turns summed and scaled gradients into their clipped mean.
template <class Rule, class T, bool ScalesLoss, bool LateGradients = false> struct AdvanceState {
  Rule rule;
  LossScaling scaling;
  Clipping clipping;
  StepState* state = nullptr;
  T const* squares = nullptr;   // (blocks)
  int const* finite = nullptr;  // (blocks)
  int blocks = 0;
  T* tail = nullptr;  // op::Tail, of all ranks

  KOKKOS_FUNCTION void operator()(int) const {
    int all_finite = 1;
    T sum = 0;
    for (int b = 0; b < blocks; ++b) {
      all_finite &= finite[b];
      sum += squares[b];
    }
    take(sum, all_finite);
  }

  /// sum: the squares of the whole mean gradient.
  KOKKOS_FUNCTION void take(T sum, int all_finite) const {
    StepState s = *state;
    s.finite = all_finite;
    T const samples = tail[op::Tail::samples], wrong_labels = tail[op::Tail::wrong_labels];
    bool const counts = s.finite != 0 && samples > T(0) && !(wrong_labels > T(0));
    if (wrong_labels > T(0)) s.untold_labels += std::uint64_t(wrong_labels);
    tail[op::Tail::untold_labels] = T(s.untold_labels);
    T const mean = mean_factor(s, samples);
    if constexpr (ScalesLoss) {
      float const own = s.loss_scale;  // of this step's gradients, which late ones stand in for
      // Late ones that had overflowed before the scale came down say nothing new.
      bool const is_news = s.finite != 0 || gradient_scale(s) <= s.loss_scale;
      if (samples > T(0) && is_news) scaling.adapt(s);
      if constexpr (LateGradients) s.late_scale = own;
    }
    if (counts) {
      s.gradient_norm = double(Kokkos::sqrt(sum));
      s.gradient_factor = double(mean) * clipping.factor(s.gradient_norm);
      double const rate = s.rate < 0 ? double(rule.rate) : s.rate;
      s.learning_rate = rate * rule.schedule.factor(s.step);
      ++s.step;
      rule.prepare(s);
    } else {
      s.finite = 0;
      ++s.skipped;
    }
    *state = s;
  }
};

/// The sum of squares, and whether a block is not finite: what ranks agree on.
template <class T> struct CollectMeasures {
  T const* squares = nullptr;   // (blocks)
  int const* finite = nullptr;  // (blocks)
  int blocks = 0;
  T* totals = nullptr;      // (2)
  T const* tail = nullptr;  // op::Tail where it is this rank's own; nullptr: of all ranks

  KOKKOS_FUNCTION void operator()(int) const {
    T sum = 0;
    int all_finite = 1;
    for (int b = 0; b < blocks; ++b) {
      sum += squares[b];
      all_finite &= finite[b];
    }
    take(sum, all_finite);
  }
  KOKKOS_FUNCTION void take(T sum, int all_finite) const {
    totals[0] = sum;
    bool const wrong_labels = tail != nullptr && tail[op::Tail::wrong_labels] > T(0);
    totals[1] = all_finite != 0 && !wrong_labels ? T(0) : T(1);
  }
};

/// AdvanceState by totals on which ranks have agreed.
template <class Advance, class T> struct AdvanceAgreed {
  Advance advance;
  T const* totals = nullptr;  // (2)
  KOKKOS_FUNCTION void operator()(int) const { advance.take(totals[0], totals[1] == T(0) ? 1 : 0); }
};

/// One work item: `Run` parameters, one on a GPU and on a processor enough for its vectors;
/// unscale, clip, update, and round to what kernels read. In a step that does not count, running
/// statistics become what they were before it.
template <class Rule, class Storage, class T, int Run> struct UpdateParameters {
  Rule rule;
  StepState const* state = nullptr;
  T const* gradients = nullptr;
  T* rule_state = nullptr;  // (Rule::states, stride), from the first parameter on
  long size = 0;            // parameters between two frozen tensors, or all of the share
  long stride = 0;          // parameters of the share
  T* master = nullptr;
  Storage* parameters = nullptr;  // the master itself, where it is stored as it is
  float const* buffers_before = nullptr;
  float* buffers = nullptr;
  int buffer_size = 0;
  int items = 0;

  KOKKOS_FUNCTION void operator()(int item) const {
    StepState const s = *state;
    if (s.finite == 0) return restore(item);
    // Copies, which no store below can change.
    UpdateParameters const u = *this;
    long const first = long(item) * Run, last = first + Run < size ? first + Run : size;
    if constexpr (Run > 1 && requires { rule.remembers(); })
      if (!rule.remembers()) {
        T none[Rule::states * Run] = {};  // in a cache, in place of an arena that stays zero
        return u.update(s, first, last, none, Run);
      }
    u.update(s, first, last, u.rule_state + first, u.stride);
  }

  // `of_rule`: the rule's numbers of parameter `first`.
  PHYLLO_INLINE void update(StepState const& s, long first, long last, T* of_rule,
                            long step) const {
    T const factor = T(s.gradient_factor);
    PHYLLO_SIMD(16)
    for (long i = first; i < last; ++i) {
      T const w = rule.update(master[i], gradients[i] * factor, of_rule + (i - first), step, s);
      master[i] = w;
      round(w, i);
    }
  }

  PHYLLO_INLINE void restore(int item) const {
    for (int i = item; i < buffer_size; i += items) buffers[i] = buffers_before[i];
  }
  // A function of its own, since a rounded number in the loop above would be an array in memory.
  PHYLLO_INLINE void round([[maybe_unused]] T w, [[maybe_unused]] long i) const {
    if constexpr (!std::is_same_v<Storage, T>) parameters[i] = Storage(w);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

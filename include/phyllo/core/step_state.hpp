// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Everything that changes from step to step, in one small block of device memory that kernels read
/// by pointer. So a step can be captured once and replayed: no functor contains any of it.
///
/// numerics the factors of an update are computed in double; kernels convert them once to the type
///          in which they compute
struct StepState {
  static constexpr int most_rule_numbers = 4;

  std::uint64_t seed = 0;          // key of all random numbers of a training
  std::uint64_t step = 0;          // optimizer steps taken, skipped ones not counted
  std::uint64_t forward = 0;       // training forward passes, the counter of random masks
  std::uint64_t first_sample = 0;  // position of this rank's first sample in the global batch
  float loss_scale = 1;            // factor on the loss's gradient
  float late_scale = 0;            // that of gradients of the step before; 0: the update takes none
  double gradient_factor = 1;  // clipping's factor / (the gradients' scale x samples of all ranks)
  double gradient_norm = 0;    // of the mean gradient over the samples of all ranks, unclipped
  double learning_rate = 0;    // of this step, after the schedule
  double rate = -1;            // in place of the rule's, before the schedule; -1: the rule's
  // The update rule's own, by rule_numbers and set_rule_numbers.
  double of_rule[most_rule_numbers] = {};
  int finite = 1;  // 0 when a reduced gradient is infinite or not a number
  int steps_since_overflow = 0;
  std::uint64_t skipped = 0;        // steps that did not count
  std::uint64_t untold_labels = 0;  // class indices outside of their range since a message

  /// The rule's own numbers of a step, in a struct that the rule declares. They are zero before the
  /// first step, are kept from step to step, and belong to checkpoints and broadcasts.
  ///
  /// options  Numbers: of doubles or other members of 8 bytes, at most 4
  template <class Numbers> PHYLLO_INLINE Numbers rule_numbers() const {
    return Kokkos::bit_cast<Numbers>(words<Numbers>());
  }
  template <class Numbers> PHYLLO_INLINE void set_rule_numbers(Numbers const& numbers) {
    auto const all = Kokkos::bit_cast<decltype(words<Numbers>())>(numbers);
    for (int i = 0; i < all.count; ++i) of_rule[i] = all.word[i];
  }

 private:
  template <int N> struct Words {
    static constexpr int count = N;
    double word[N];
  };
  template <class Numbers> PHYLLO_INLINE auto words() const {
    static_assert(std::is_trivially_copyable_v<Numbers> && sizeof(Numbers) % sizeof(double) == 0 &&
                      sizeof(Numbers) <= sizeof(of_rule),
                  "StepState: expected a rule's numbers to be a plain struct of at most 4 doubles, "
                  "got another type. Store more numbers as Rule::states or Rule::tensor_numbers.");
    Words<int(sizeof(Numbers) / sizeof(double))> all;
    for (int i = 0; i < all.count; ++i) all.word[i] = of_rule[i];
    return all;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::detail {

/// A contraction inside a kernel: one item is `Step::lanes` outputs of a position.
///
/// options  Step: InKernelStep, which says where the values are
template <class Step> struct InKernelContraction {
  using Facts = typename Step::Facts;
  using T = typename Step::T;
  using Number = typename Step::Number;
  using storage = typename Step::storage;
  static constexpr int C = Step::C;
  static constexpr int O = Step::O;
  static constexpr int lanes = Step::lanes;
  static constexpr int most_unrolled = 32 * 32;  // multiply-adds
  static constexpr int blocks = (O + lanes - 1) / lanes;

  PHYLLO_FUNCTION static void run(Step const& step, int i) {
    constexpr int rest = O % lanes;
    int const q = i / blocks, first = i % blocks * lanes;
    if constexpr (O >= lanes)
      if (rest == 0 || first + lanes <= O) return contract<lanes>(step, q, first);
    if constexpr (rest > 0) contract<rest>(step, q, first);
  }

 private:
  template <int Count> struct Multiply {
    Number const* x;        // (S, C)
    storage const* weight;  // (taps, C, O), from the first lane on
    T* sum;                 // (Count)

    PHYLLO_FUNCTION void operator()(int p, int t) const {
      // Unrolled while the code stays small, so that x stays in registers as well.
      KOKKOS_IF_ON_HOST((if constexpr (PHYLLO_FUSES_MULTIPLY_ADD && Facts::taps == 1 && C >= 8 &&
                                       std::is_same_v<storage, T>) return in_chains(p, t);))
      if constexpr (Facts::taps == 1 && C * Count <= most_unrolled) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int c = 0; c < C; ++c) add(p, t, c);
      } else {
        for (int c = 0; c < C; ++c) add(p, t, c);
      }
    }
    // A processor waits for the sum before it can add to it: four sums at a time.
    void in_chains(int p, int t) const {
      T chain[3][Count] = {};
      int c = 0;
      for (; c + 3 < C; c += 4) {
        T const x0 = T(x[p * C + c]), x1 = T(x[p * C + c + 1]), x2 = T(x[p * C + c + 2]),
                x3 = T(x[p * C + c + 3]);
        storage const* const w = weight + (t * C + c) * O;
        PHYLLO_SIMD(16)
        for (int o = 0; o < Count; ++o) {
          sum[o] += x0 * T(w[o]);
          chain[0][o] += x1 * T(w[O + o]);
          chain[1][o] += x2 * T(w[2 * O + o]);
          chain[2][o] += x3 * T(w[3 * O + o]);
        }
      }
      for (; c < C; ++c) add(p, t, c);
      PHYLLO_SIMD(16)
      for (int o = 0; o < Count; ++o) sum[o] += chain[0][o] + (chain[1][o] + chain[2][o]);
    }
    PHYLLO_FUNCTION void add(int p, int t, int c) const {
      T const xc = T(x[p * C + c]);
      PHYLLO_UNROLL_ON_DEVICE
      for (int o = 0; o < Count; ++o) sum[o] += xc * T(weight[(t * C + c) * O + o]);
    }
  };

  template <int Count> PHYLLO_FUNCTION static void contract(Step const& step, int q, int first) {
    T sum[Count];
    PHYLLO_UNROLL_ON_DEVICE
    for (int o = 0; o < Count; ++o)
      if constexpr (Facts::bias < 0)
        sum[o] = T(0);
      else
        sum[o] = T(step.parameters[Facts::bias + first + o]);
    Multiply<Count> multiply{step.template source<0>(), step.parameters + Facts::weight + first,
                             sum};
    Step::for_each_tap(q, multiply);
    PHYLLO_UNROLL_ON_DEVICE
    for (int o = 0; o < Count; ++o) {
      if constexpr (Facts::folds) sum[o] = step.normalized(sum[o], first + o);
      step.write(q * O + first + o, sum[o]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

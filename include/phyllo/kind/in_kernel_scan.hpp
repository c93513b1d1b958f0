// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

/// A scan inside a kernel: one item is a unit of the only time, or all units of all times.
///
/// options  Step: InKernelStep, which says where the values are
template <class Step> struct InKernelScan {
  using L = typename Step::Leaf;
  using Cell = typename L::cell;
  using T = typename Step::T;
  using Facts = typename Step::Facts;
  static constexpr int H = L::hidden, G = Cell::gates, states = Cell::states;
  static constexpr int times = Facts::out_positions;

  PHYLLO_FUNCTION static void run(Step const& step, int i) {
    if constexpr (times == 1) {
      unit(step, 0, -1, i, nullptr);
    } else {
      T other[(states - 1) * H + 1];  // the states behind h
      for (int u = 0; u < H; ++u)
        if constexpr (states > 1) other[u] = initial<1>(step, u);
      for (int s = 0; s < times; ++s) {
        int const t = L::reverse ? times - 1 - s : s;
        for (int u = 0; u < H; ++u)
          unit(step, t, s == 0 ? -1 : L::reverse ? t + 1 : t - 1, u, other);
      }
    }
  }

 private:
  template <int S> PHYLLO_FUNCTION static T initial(Step const& step, int u) {
    if constexpr (S < L::initial_states)
      return T(step.template source<1 + S>()[L::place * H + u]);
    else
      return T(0);
  }
  // Number u of h at time `before`; -1: of the initial one.
  PHYLLO_FUNCTION static T h(Step const& step, int before, int u) {
    return before < 0 ? initial<0>(step, u) : T(step.result()[before * Step::O + u]);
  }
  PHYLLO_FUNCTION static void unit(Step const& step, int t, int before, int u, T* other) {
    T x[G], r[G], state[states], keep[Cell::kept];
    for (int g = 0; g < G; ++g) {
      x[g] = T(step.template source<0>()[(t * G + g) * H + u]);
      r[g] = T(0);
      if constexpr (Facts::bias >= 0) r[g] = T(step.parameters[Facts::bias + g * H + u]);
    }
    if (before >= 0 || L::initial_states > 0)
      for (int k = 0; k < H; ++k) {
        T const h_k = h(step, before, k);
        for (int g = 0; g < G; ++g)
          r[g] += h_k * T(step.parameters[Facts::weight + (k * G + g) * H + u]);
      }
    state[0] = h(step, before, u);
    if constexpr (states > 1) state[1] = other == nullptr ? initial<1>(step, u) : other[u];
    Cell::activate(x, r, keep);
    Cell::advance(state, keep);
    if constexpr (states > 1)
      if (other != nullptr) other[u] = state[1];
    step.write(t * Step::O + u, state[0]);
    for (int s = L::carried_from; s < states; ++s)
      step.write(t * Step::O + (1 + s - L::carried_from) * H + u, state[s]);
  }
};

/// The only time of a scan for several cells of the caller's at once.
///
/// options  Step: InKernelCellStep, which says where the values are
template <class Step> struct CellScan {
  using L = typename Step::Leaf;
  using Cell = typename L::cell;
  using T = typename Step::T;
  using V = typename Step::V;
  using Facts = typename Step::Facts;
  static constexpr int N = Step::cells, lanes = Step::lanes, vectors = N / lanes;
  static constexpr int H = L::hidden, G = Cell::gates, states = Cell::states;
  // Units whose sums are in registers at once.
  static constexpr int most = (PHYLLO_VECTOR_REGISTERS >= 32 ? 24 : 12) / (G * vectors);
  static constexpr int block = most < 1 ? 1 : most < H ? most : H;

  static void run(Step const& step) {
    constexpr int whole = H / block * block;
    for (int u = 0; u < whole; u += block) units<block>(step, u);
    if constexpr (whole < H) units<H - whole>(step, whole);
    step.finish(0, Step::O);
  }

 private:
  template <int Count> PHYLLO_WHOLE_VECTORS static void units(Step const& step, int first) {
    V sum[G][Count][vectors];
    PHYLLO_UNROLL
    for (int g = 0; g < G; ++g) {
      PHYLLO_UNROLL
      for (int u = 0; u < Count; ++u) {
        T begin = T(0);
        if constexpr (Facts::bias >= 0) begin = T(step.parameters[Facts::bias + g * H + first + u]);
        PHYLLO_UNROLL
        for (int v = 0; v < vectors; ++v) sum[g][u][v] = begin - V{};
      }
    }
    if constexpr (L::initial_states > 0) {
      T const* h = step.template source<1>() + L::place * H * N;
      for (int k = 0; k < H; ++k, h += N) {
        V h_k[vectors];
        PHYLLO_UNROLL
        for (int v = 0; v < vectors; ++v) h_k[v] = *reinterpret_cast<V const*>(h + v * lanes);
        PHYLLO_UNROLL
        for (int g = 0; g < G; ++g) {
          PHYLLO_UNROLL
          for (int u = 0; u < Count; ++u) {
            T const w = T(step.parameters[Facts::weight + (k * G + g) * H + first + u]);
            PHYLLO_UNROLL
            for (int v = 0; v < vectors; ++v) sum[g][u][v] += h_k[v] * w;
          }
        }
      }
    }
    alignas(64) T r[G][Count * N];
    PHYLLO_UNROLL
    for (int g = 0; g < G; ++g) {
      PHYLLO_UNROLL
      for (int u = 0; u < Count; ++u) {
        PHYLLO_UNROLL
        for (int v = 0; v < vectors; ++v)
          *reinterpret_cast<V*>(r[g] + u * N + v * lanes) = sum[g][u][v];
      }
    }
    evaluate<Count>(step, first, r);
  }

  template <int Count>
  static void evaluate(Step const& step, int first, T const (&r)[G][Count * N]) {
    T const* const x = step.template source<0>() + first * N;
    T const* const initial[2] = {state_of<0>(step, first), state_of<1>(step, first)};
    T* const y = step.result() + first * N;
    // In two loops, so that the processor finds operations that do not wait for each other.
    alignas(64) T kept[Cell::kept][Count * N];
    PHYLLO_SIMD(16)
    for (int i = 0; i < Count * N; ++i) {
      T input[G], sums[G], keep[Cell::kept];
      for (int g = 0; g < G; ++g) input[g] = x[g * H * N + i], sums[g] = r[g][i];
      Cell::activate(input, sums, keep);
      for (int k = 0; k < Cell::kept; ++k) kept[k][i] = keep[k];
    }
    PHYLLO_SIMD(16)
    for (int i = 0; i < Count * N; ++i) {
      T state[states], keep[Cell::kept];
      for (int s = 0; s < states; ++s) state[s] = L::initial_states > 0 ? initial[s][i] : T(0);
      for (int k = 0; k < Cell::kept; ++k) keep[k] = kept[k][i];
      Cell::advance(state, keep);
      y[i] = state[0];
      for (int s = L::carried_from; s < states; ++s)
        y[(1 + s - L::carried_from) * H * N + i] = state[s];
    }
  }
  template <int S> static T const* state_of(Step const& step, int first) {
    if constexpr (S < L::initial_states)
      return step.template source<1 + S>() + (L::place * H + first) * N;
    else
      return nullptr;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

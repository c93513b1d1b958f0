// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/fusion/planned.hpp>
#include <phyllo/op/pooling.hpp>

#include <Kokkos_MathematicalFunctions.hpp>
#include <Kokkos_NumericTraits.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::detail {

// Where the value of node V begins in an arena of elements of ElementSize bytes.
template <class Planned, int V, int ElementSize>
inline constexpr int value_place =
    int(Planned::memory.slot[Planned::memory.value[V]].offset / ElementSize);

// The constants of step S as numbers: device code may not index the tables that they stand in.
template <class Planned, int S> struct StepFacts {
  static constexpr Node head = Planned::head(S);
  static constexpr Step step = Planned::step(S);
  static constexpr bool folds = step.kind == StepKind::folded_contraction;
  static constexpr Node norm = folds ? Planned::node(Planned::plan.order[step.first + 1]) : head;

  static constexpr Role role = head.role;
  static constexpr int result = Planned::result(S);
  static constexpr int chain_position = Planned::liveness.chain_first(step);
  static constexpr int sources = head.sources;
  template <int I> static constexpr int source = head.source[I];
  template <int I>
  static constexpr int source_channels = Planned::node(head.source[I]).output.channels;
  static constexpr int weight = head.weight, bias = head.bias;
  static constexpr int norm_weight = norm.weight, norm_bias = norm.bias, norm_buffer = norm.buffer;
  static constexpr double epsilon = norm.epsilon;
  // A contraction that reads its whole input reads one row of numbers.
  static constexpr bool reads_row = reads_whole_input(head);
  static constexpr int in_channels = reads_row ? head.input.size() : head.input.channels;
  static constexpr int in_positions = reads_row ? 1 : head.input.positions();
  static constexpr int out_channels = head.output.channels, out_positions = head.output.positions();
  template <int D> static constexpr int in_extent = reads_row ? 1 : head.input.spatial[D];
  template <int D> static constexpr int out_extent = head.output.spatial[D];
  template <int D> static constexpr int window = reads_row ? 1 : head.window.size[D];
  template <int D> static constexpr int stride = head.window.stride[D];
  template <int D> static constexpr int padding = head.window.padding[D];
  static constexpr int taps = reads_row ? 1 : head.window.taps();
};

/// Step S of a plan for one sample: item i of its result, for one thread or the threads of a team.
///
/// shape    arena: values as Planned::memory places them, each (S, C); an item is `Lanes` outputs
///          of a position for a contraction, a position for a softmax, else one element
/// numerics as the ops say; each result is rounded to the storage type, as between batched kernels
template <class Planned, class Precision, int S, int Lanes, class Value> struct InKernelStep {
  using storage = typename Precision::storage;
  using T = typename Precision::accumulate;
  using Facts = StepFacts<Planned, S>;
  using Chain = StepChain<Planned, S>;
  static constexpr int C = Facts::in_channels;
  static constexpr int O = Facts::out_channels;
  static constexpr int most_unrolled = 32 * 32;  // multiply-adds
  static constexpr int blocks = (O + Lanes - 1) / Lanes;
  static constexpr int items = Facts::role == Role::contraction ? Facts::out_positions * blocks
                               : Facts::role == Role::softmax   ? Facts::out_positions
                                                                : Facts::out_positions * O;

  storage const* parameters;
  float const* buffers;
  Value* arena;

  PHYLLO_FUNCTION void operator()(int i) const {
    if constexpr (Facts::role == Role::contraction)
      contraction(i / blocks, i % blocks * Lanes);
    else if constexpr (Facts::role == Role::softmax)
      softmax(i);
    else if constexpr (Facts::role == Role::normalization)
      write(i, normalized(T(source<0>()[i]), i % O));
    else if constexpr (Facts::role == Role::pointwise)
      write(i, T(source<0>()[i]));
    else if constexpr (Facts::role == Role::add)
      write(i, T(source<0>()[i]) + T(source<1>()[i]));
    else if constexpr (Facts::role == Role::pooling)
      write(i, pooled(i / O, i % O));
    else if constexpr (Facts::role == Role::resample)
      write(i, T(source<0>()[nearest(i / O) * C + i % O]));
    else if constexpr (Facts::role == Role::reshape)  // (S, C) -> (C, S)
      write(i, T(source<0>()[i % Facts::in_positions * C + i / Facts::in_positions]));
    else
      write(i, concatenated<0>(i / O, i % O));
  }

 private:
  template <int V> static constexpr int place = value_place<Planned, V, int(sizeof(Value))>;

  template <int I> PHYLLO_FUNCTION Value const* source() const {
    return arena + place<Facts::template source<I>>;
  }
  PHYLLO_FUNCTION void write_raw(int i, T x) const {
    arena[place<Facts::result> + i] = static_cast<Value>(static_cast<storage>(x));
  }
  // Random functions are the identity in inference: of the element, only the index is told.
  PHYLLO_FUNCTION void write(int i, T x) const {
    write_raw(i, Chain::value(x, Element{0, 0, 0, std::uint32_t(Facts::chain_position),
                                         std::uint32_t(i), false}));
  }

  PHYLLO_FUNCTION T normalized(T x, int c) const {
    T const mean = T(buffers[Facts::norm_buffer + c]);
    T const variance = T(buffers[Facts::norm_buffer + O + c]);
    T const deviation = Kokkos::sqrt(variance + T(Facts::epsilon));
    T const scale = T(parameters[Facts::norm_weight + c]);
    T const shift = T(parameters[Facts::norm_bias + c]);
    // Rounded as the batched kernels round: one divides, one multiplies.
    if constexpr (Facts::folds) return (x - mean) / deviation * scale + shift;
    return (x - mean) * (T(1) / deviation) * scale + shift;
  }

  // Calls body(p, t) for each tap t of the window at position q that lies on a position p.
  template <class Body> PHYLLO_FUNCTION static void for_each_tap(int q, Body& body) {
    int const qd = q / (Facts::template out_extent<1> * Facts::template out_extent<2>);
    int const qh = q / Facts::template out_extent<2> % Facts::template out_extent<1>;
    int const qw = q % Facts::template out_extent<2>;
    for (int td = 0; td < Facts::template window<0>; ++td) {
      int const d = tapped<0>(qd, td);
      if (!inside<0>(d)) continue;
      for (int th = 0; th < Facts::template window<1>; ++th) {
        int const h = tapped<1>(qh, th);
        if (!inside<1>(h)) continue;
        for (int tw = 0; tw < Facts::template window<2>; ++tw) {
          int const w = tapped<2>(qw, tw);
          if (!inside<2>(w)) continue;
          body((d * Facts::template in_extent<1> + h) * Facts::template in_extent<2> + w,
               (td * Facts::template window<1> + th) * Facts::template window<2> + tw);
        }
      }
    }
  }
  template <int D> PHYLLO_FUNCTION static int tapped(int q, int tap) {
    return q * Facts::template stride<D> - Facts::template padding<D> + tap;
  }
  template <int D> PHYLLO_FUNCTION static bool inside(int x) {
    if constexpr (Facts::template padding<D> == 0)
      return true;
    else
      return x >= 0 && x < Facts::template in_extent<D>;
  }

  template <int Count> struct Multiply {
    Value const* x;         // (S, C)
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

  PHYLLO_FUNCTION void contraction(int q, int first) const {
    constexpr int rest = O % Lanes;
    if constexpr (O >= Lanes)
      if (rest == 0 || first + Lanes <= O) return contract<Lanes>(q, first);
    if constexpr (rest > 0) contract<rest>(q, first);
  }
  template <int Count> PHYLLO_FUNCTION void contract(int q, int first) const {
    T sum[Count];
    PHYLLO_UNROLL_ON_DEVICE
    for (int o = 0; o < Count; ++o)
      if constexpr (Facts::bias < 0)
        sum[o] = T(0);
      else
        sum[o] = T(parameters[Facts::bias + first + o]);
    Multiply<Count> multiply{source<0>(), parameters + Facts::weight + first, sum};
    for_each_tap(q, multiply);
    PHYLLO_UNROLL_ON_DEVICE
    for (int o = 0; o < Count; ++o) {
      if constexpr (Facts::folds) sum[o] = normalized(sum[o], first + o);
      write(q * O + first + o, sum[o]);
    }
  }

  struct Maximum {
    Value const* x;
    T value = -Kokkos::Experimental::infinity_v<T>;

    PHYLLO_FUNCTION void operator()(int p, int) {
      T const v = T(x[p * C]);
      if (v > value || v != v) value = v;  // not-a-numbers pass
    }
  };
  struct Sum {
    Value const* x;
    T value = T(0);

    PHYLLO_FUNCTION void operator()(int p, int) { value += T(x[p * C]); }
  };
  PHYLLO_FUNCTION T pooled(int q, int c) const {
    using Leaf = At<typename Planned::leaves, std::size_t(Facts::result)>;
    if constexpr (Leaf::kind == op::PoolingKind::maximum) {
      Maximum maximum{source<0>() + c};
      for_each_tap(q, maximum);
      return maximum.value;
    } else {
      Sum sum{source<0>() + c};
      for_each_tap(q, sum);
      return sum.value / T(Facts::taps);
    }
  }

  PHYLLO_FUNCTION void softmax(int row) const {
    Value const* x = source<0>() + row * C;
    T largest = T(x[0]);
    for (int c = 1; c < C; ++c) largest = T(x[c]) > largest ? T(x[c]) : largest;
    T sum = T(0);
    for (int c = 0; c < C; ++c) sum += decay(T(x[c]) - largest);
    T const share = T(1) / sum;
    for (int c = 0; c < C; ++c) write_raw(row * C + c, decay(T(x[c]) - largest) * share);
  }

  // The position that output position q of an upsampling copies.
  PHYLLO_FUNCTION static int nearest(int q) {
    int const qd = q / (Facts::template out_extent<1> * Facts::template out_extent<2>);
    int const qh = q / Facts::template out_extent<2> % Facts::template out_extent<1>;
    int const qw = q % Facts::template out_extent<2>;
    int const d = qd / (Facts::template out_extent<0> / Facts::template in_extent<0>);
    int const h = qh / (Facts::template out_extent<1> / Facts::template in_extent<1>);
    int const w = qw / (Facts::template out_extent<2> / Facts::template in_extent<2>);
    return (d * Facts::template in_extent<1> + h) * Facts::template in_extent<2> + w;
  }

  template <int I> PHYLLO_FUNCTION T concatenated(int q, int c) const {
    constexpr int channels = Facts::template source_channels<I>;
    if constexpr (I + 1 < Facts::sources)
      if (c >= channels) return concatenated<I + 1>(q, c - channels);
    return T(source<I>()[q * channels + c]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

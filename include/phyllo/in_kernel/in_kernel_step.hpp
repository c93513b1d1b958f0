// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/planned.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::detail {

// Where the value of node V begins in an arena of elements of ElementSize bytes.
template <class Planned, int V, int ElementSize>
inline constexpr int value_place =
    int(Planned::memory.slot[Planned::memory.value[V]].offset / ElementSize);

// The constants of step S as numbers: device code may not index the tables that they stand in.
template <class Planned, int S> struct StepFacts {
  using Plan = Planned;
  using Leaf = typename Planned::template Leaf<S>;
  static constexpr int index = S;
  static constexpr Node head = Planned::head(S);
  static constexpr Step step = Planned::step(S);
  static constexpr bool folds = step.kind == StepKind::folded_contraction;
  static constexpr Node norm = folds ? Planned::node(Planned::plan.order[step.first + 1]) : head;

  static constexpr Role role = head.role;
  static constexpr int result = Planned::result(S);
  static constexpr int chain_position = Planned::liveness.chain_first(step);
  static constexpr int sources = head.sources;
  template <int I> static constexpr int source = Planned::liveness.source(S, I);
  template <int I> static constexpr int source_channels = head.source_shape[I].channels;
  template <int I> static constexpr int source_positions = head.source_shape[I].positions();
  static constexpr int weight = head.parameter[0].offset, bias = head.parameter[1].offset;
  static constexpr int norm_weight = norm.parameter[0].offset;
  static constexpr int norm_bias = norm.parameter[1].offset;
  static constexpr int norm_buffer = norm.buffer;
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
  using Number = Value;
  using Facts = StepFacts<Planned, S>;
  using Chain = StepChain<Planned, S>;
  using Leaf = typename Planned::template Leaf<S>;
  static constexpr int C = Facts::in_channels;
  static constexpr int O = Facts::out_channels;
  static constexpr int lanes = Lanes;
  using OfKind = Kind<Facts::role>;
  static constexpr int items = OfKind::template items<Facts, Lanes>;

  storage const* parameters;
  float const* buffers;
  Value* arena;

  PHYLLO_FUNCTION void operator()(int i) const { OfKind::in_kernel(*this, i); }

  template <int V> static constexpr int place = value_place<Planned, V, int(sizeof(Value))>;

  template <int I> PHYLLO_FUNCTION Value const* source() const {
    return arena + place<Facts::template source<I>>;
  }
  PHYLLO_FUNCTION Value const* result() const { return arena + place<Facts::result>; }
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
    // Rounded as the batched kernels round: one divides, one multiplies.
    T const x_hat = Facts::folds ? (x - mean) / deviation : (x - mean) * (T(1) / deviation);
    if constexpr (Facts::norm_weight < 0)
      return x_hat;
    else
      return x_hat * T(parameters[Facts::norm_weight + c]) + T(parameters[Facts::norm_bias + c]);
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

 private:
  template <int D> PHYLLO_FUNCTION static int tapped(int q, int tap) {
    return q * Facts::template stride<D> - Facts::template padding<D> + tap;
  }
  template <int D> PHYLLO_FUNCTION static bool inside(int x) {
    constexpr int end =
        (Facts::template out_extent<D> - 1) * Facts::template stride<D> + Facts::template window<D>;
    if constexpr (Facts::template padding<D> == 0 && end <= Facts::template in_extent<D>)
      return true;
    else
      return x >= 0 && x < Facts::template in_extent<D>;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::detail

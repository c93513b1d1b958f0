// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/map.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

template <class Op, class P> struct map_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename Op::template Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.channels);
    long const row = at / work.channels;
    int const n = int(row / work.positions), s = int(row % work.positions);
    int const i = s * work.channels + c;
    A a[Op::arguments];
    work.read(n, s, c, a);
    A const z = Op::value(a, work.template noise_at<A>(n, i));
    work.y[at] = S(Op::chain::value(z, work.random.element(n, i)));
  }
};

/// What one element of the result adds to the gradients of all arguments.
template <class Op, class P> struct MapSlopes {
  using A = typename P::accumulate;
  Partials<A, Op::count> slope;

  PHYLLO_INLINE MapSlopes(typename Op::template Backward<P> const& work, int n, int s, int c) {
    int const i = s * work.channels + c;
    A a[Op::arguments];
    work.read(n, s, c, a);
    A const noise = work.template noise_at<A>(n, i);
    A const z = Op::chain::length == 0 ? A(0) : Op::value(a, noise);
    A const g = Op::gradient(A(work.d_y[(long(n) * work.positions + s) * work.channels + c]), z,
                             work.random.element(n, i));
    slope = Op::derivatives(a, noise);
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < Op::count; ++k) slope.by[k] *= g;
  }
};

/// Whether each number of an operand is read once.
template <class Operand> PHYLLO_INLINE bool is_read_once(Operand const& x) {
  return x.channel_step != 0 && x.position_step != 0;
}

/// One work item: one element of the result, for the operands that are read once.
template <class Op, class P> struct map_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename Op::template Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    int const c = int(at % work.channels);
    long const row = at / work.channels;
    int const n = int(row / work.positions), s = int(row % work.positions);
    MapSlopes<Op, P> const slopes(work, n, s, c);
    // In this order: two operands may be the same numbers.
    PHYLLO_UNROLL_ON_DEVICE
    for (int j = 0; j < Op::operands; ++j) {
      if (work.d_x[j] == nullptr || !is_read_once(work.x[j])) continue;
      S& d_x = work.d_x[j][work.x[j].place(n, s, work.positions) + c];
      A const d = slopes.slope.by[j];
      d_x = S(work.accumulate_gradient[j] ? A(d_x) + d : d);
    }
  }
};

/// One work item: one number of operand `j`, which several positions or channels read.
template <class Op, class P> struct map_backward_shared {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename Op::template Backward<P> work;
  int j;

  PHYLLO_FUNCTION int positions() const {
    return work.x[j].position_step == 0 ? 1 : work.positions;
  }
  PHYLLO_FUNCTION int channels() const { return work.x[j].channel_step == 0 ? 1 : work.channels; }
  PHYLLO_FUNCTION void operator()(long item) const {
    int const c = int(item % channels());
    long const row = item / channels();
    int const n = int(row / positions()), s = int(row % positions());
    bool const all_positions = work.x[j].position_step == 0;
    bool const all_channels = work.x[j].channel_step == 0;
    A sum = 0;
    for (int q = all_positions ? 0 : s; q < (all_positions ? work.positions : s + 1); ++q)
      for (int o = all_channels ? 0 : c; o < (all_channels ? work.channels : c + 1); ++o)
        sum += MapSlopes<Op, P>(work, n, q, o).slope.by[j];
    S& d_x = work.d_x[j][work.x[j].place(n, s, work.positions) + c];
    d_x = S(work.accumulate_gradient[j] ? A(d_x) + sum : sum);
  }
};

/// One work item: a block of rows and one channel, for all parameters.
template <class Op, class P> struct map_partial {
  using A = typename P::accumulate;
  typename Op::template Backward<P> work;
  int blocks;

  PHYLLO_FUNCTION void operator()(long item) const {
    int const c = int(item % work.channels);
    long const b = item / work.channels, rows = work.rows();
    A sum[Op::parameters] = {};
    for (long r = rows * b / blocks; r < rows * (b + 1) / blocks; ++r) {
      MapSlopes<Op, P> const slopes(work, int(r / work.positions), int(r % work.positions), c);
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < Op::parameters; ++k) sum[k] += slopes.slope.by[Op::operands + k];
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < Op::parameters; ++k)
      work.partial[(b * Op::parameters + k) * work.channels + c] = sum[k];
  }
};

/// One work item: one channel of one parameter, its partial sums in rising order, into those of
/// block 0 or, per channel, into the gradient.
template <class Op, class P> struct map_combine {
  using A = typename P::accumulate;
  typename Op::template Backward<P> work;
  int blocks;

  PHYLLO_FUNCTION void operator()(long item) const {
    int const c = int(item % work.channels), k = int(item / work.channels);
    A sum = 0;
    for (long b = 0; b < blocks; ++b)
      sum += work.partial[(b * Op::parameters + k) * work.channels + c];
    if (work.parameter_step[k] != 0)
      work.d_parameter[k][c] = sum;
    else
      work.partial[k * work.channels + c] = sum;
  }
};

/// One work item: one parameter with a number for all channels.
template <class Op, class P> struct map_combine_channels {
  using A = typename P::accumulate;
  typename Op::template Backward<P> work;

  PHYLLO_FUNCTION void operator()(long k) const {
    if (work.parameter_step[k] != 0) return;
    A sum = 0;
    for (int c = 0; c < work.channels; ++c) sum += work.partial[k * work.channels + c];
    work.d_parameter[k][0] = sum;
  }
};

template <class Formula, class Chain, class P> struct Kernels<op::Map<Formula, Chain>, P> {
  using Op = op::Map<Formula, Chain>;
  using Backward = typename Op::template Backward<P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    launch(exec, label, work.rows() * work.channels, map_forward<Op, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, Backward const& work) {
    bool once = false;
    for (int j = 0; j < Op::operands; ++j)
      once = once || (work.d_x[j] != nullptr && is_read_once(work.x[j]));
    if (once) launch(exec, label, work.rows() * work.channels, map_backward<Op, P>{work});
    for (int j = 0; j < Op::operands; ++j) {
      if (work.d_x[j] == nullptr || is_read_once(work.x[j])) continue;
      map_backward_shared<Op, P> const shared{work, j};
      launch(exec, label, long(work.batch) * shared.positions() * shared.channels(), shared);
    }
    if constexpr (Op::parameters > 0) {
      int const blocks = Op::blocks_of(work.rows());
      launch(exec, label, long(blocks) * work.channels, map_partial<Op, P>{work, blocks});
      combine(exec, label, work, blocks);
    }
  }
  /// Partial sums of blocks into the gradients of the parameters.
  template <class Space>
  static void combine(Space const& exec, std::string const& label, Backward const& work,
                      int blocks) {
    bool shared = false;
    for (int k = 0; k < Op::parameters; ++k) shared = shared || work.parameter_step[k] == 0;
    launch(exec, label, long(Op::parameters) * work.channels, map_combine<Op, P>{work, blocks});
    if (shared) launch(exec, label, Op::parameters, map_combine_channels<Op, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

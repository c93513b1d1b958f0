// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/row.hpp>
#include <phyllo/op/group_normalization.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// A group of a sample, as a row of positions times channels, and its statistics once these are
/// known.
template <class Chain, class P> struct NormalizedGroup {
  using A = typename P::accumulate;
  using S = typename P::storage;
  S const* scale;
  S const* shift;
  Randomness random;
  long begin;  // of the sample
  int sample, first, width, channels;
  A mean = 0, inverse = 0;

  template <class Work>
  PHYLLO_INLINE NormalizedGroup(Work const& work, long r)
      : scale(work.scale),
        shift(work.shift),
        random(work.random),
        begin(r / work.groups * work.positions * work.channels),
        sample(int(r / work.groups)),
        first(int(r % work.groups) * (work.channels / work.groups)),
        width(work.channels / work.groups),
        channels(work.channels) {}

  PHYLLO_INLINE int channel(int i) const { return first + i % width; }
  PHYLLO_INLINE long at(int i) const { return begin + long(i / width) * channels + channel(i); }

  PHYLLO_INLINE A x_hat(S const* x, int i) const { return (A(x[at(i)]) - mean) * inverse; }
  PHYLLO_INLINE A scale_of(int c) const { return scale != nullptr ? A(scale[c]) : A(1); }
  PHYLLO_INLINE A z(A x_hat, int c) const {
    return x_hat * scale_of(c) + (shift != nullptr ? A(shift[c]) : A(0));
  }
  PHYLLO_INLINE Element element(long at) const {
    if constexpr (Chain::random)
      return random.element(sample, int(at - begin));
    else
      return Element{};
  }
  /// Gradient at the chain's input.
  PHYLLO_INLINE A gradient(A d_y, A x_hat, int c, long at) const {
    if constexpr (Chain::length == 0) {
      return d_y;
    } else {
      Element const e = element(at);
      A const in = z(x_hat, c);
      A const kept = Chain::derivative_of == Derivative::output ? Chain::value(in, e) : in;
      return d_y * Chain::derivative(kept, e);
    }
  }
};

template <class Group> struct AddGroupNumbers {
  Group const& group;
  typename Group::S const* x;
  using A = typename Group::A;
  PHYLLO_INLINE A operator()(int i) const { return A(x[group.at(i)]); }
};
template <class Group> struct AddGroupSquares {
  Group const& group;
  typename Group::S const* x;
  using A = typename Group::A;
  PHYLLO_INLINE A operator()(int i) const {
    A const d = A(x[group.at(i)]) - group.mean;
    return d * d;
  }
};
template <class Chain, class Group> struct StoreNormalizedGroup {
  using S = typename Group::S;
  Group const& group;
  S const* x;
  S* y;
  PHYLLO_INLINE void operator()(int i) const {
    long const at = group.at(i);
    y[at] = S(Chain::value(group.z(group.x_hat(x, i), group.channel(i)), group.element(at)));
  }
};

/// One row: one group of a sample.
template <class Chain, class P> struct group_normalization_forward {
  using A = typename P::accumulate;
  using Group = NormalizedGroup<Chain, P>;
  typename op::GroupNormalization<Chain>::template Forward<P> work;

  long rows() const { return long(work.batch) * work.groups; }
  PHYLLO_INLINE int numbers() const { return work.positions * (work.channels / work.groups); }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    Group group(work, r);
    A const share = A(1) / A(numbers());
    group.mean = loops.template sum<A>(numbers(), AddGroupNumbers<Group>{group, work.x}) * share;
    A const square =
        loops.template sum<A>(numbers(), AddGroupSquares<Group>{group, work.x}) * share;
    group.inverse = A(1) / square_root(square + work.epsilon);
    if (work.statistics != nullptr)
      loops.once([&] {
        work.statistics[2 * r] = group.mean;
        work.statistics[2 * r + 1] = group.inverse;
      });
    loops.for_each(numbers(), StoreNormalizedGroup<Chain, Group>{group, work.x, work.y});
  }
};

/// Sums over a group of h and of h x_hat, and what they make of h.
template <class Group> struct AddGroupSlopes {
  using A = typename Group::A;
  using S = typename Group::S;
  Group const& group;
  S const* x;
  S const* d_y;
  PHYLLO_INLINE A h(int i) const {
    long const at = group.at(i);
    int const c = group.channel(i);
    return group.gradient(A(d_y[at]), group.x_hat(x, i), c, at) * group.scale_of(c);
  }
  PHYLLO_INLINE A operator()(int i) const { return h(i); }
};
template <class Group> struct AddGroupSlopesTimesNumbers {
  using A = typename Group::A;
  AddGroupSlopes<Group> const& slopes;
  PHYLLO_INLINE A operator()(int i) const { return slopes.h(i) * slopes.group.x_hat(slopes.x, i); }
};
template <class Group> struct StoreGroupSlopes {
  using A = typename Group::A;
  using S = typename Group::S;
  AddGroupSlopes<Group> const& slopes;
  S* d_x;
  bool accumulate;
  A mean_h, mean_hx;
  PHYLLO_INLINE void operator()(int i) const {
    Group const& group = slopes.group;
    A const d = group.inverse * (slopes.h(i) - mean_h - group.x_hat(slopes.x, i) * mean_hx);
    S& to = d_x[group.at(i)];
    to = S(accumulate ? A(to) + d : d);
  }
};

/// One row: one group of a sample.
template <class Chain, class P> struct group_normalization_backward {
  using A = typename P::accumulate;
  using Group = NormalizedGroup<Chain, P>;
  typename op::GroupNormalization<Chain>::template Backward<P> work;

  long rows() const { return long(work.batch) * work.groups; }
  PHYLLO_INLINE int numbers() const { return work.positions * (work.channels / work.groups); }
  PHYLLO_INLINE Group group(long r) const {
    Group group(work, r);
    group.mean = work.statistics[2 * r];
    group.inverse = work.statistics[2 * r + 1];
    return group;
  }
  template <class Loops> PHYLLO_INLINE void operator()(long r, Loops const& loops) const {
    Group const group = this->group(r);
    AddGroupSlopes<Group> const slopes{group, work.x, work.d_y};
    A const share = A(1) / A(numbers());
    A const mean_h = loops.template sum<A>(numbers(), slopes) * share;
    A const mean_hx =
        loops.template sum<A>(numbers(), AddGroupSlopesTimesNumbers<Group>{slopes}) * share;
    loops.for_each(numbers(), StoreGroupSlopes<Group>{slopes, work.d_x, work.accumulate_gradient,
                                                      mean_h, mean_hx});
  }
};

/// One work item: a block of samples and one channel, sums of g and of g x_hat.
template <class Chain, class P> struct group_normalization_partial {
  using A = typename P::accumulate;
  group_normalization_backward<Chain, P> of;
  int blocks;

  PHYLLO_FUNCTION void operator()(long item) const {
    auto const& work = of.work;
    int const channels = work.channels, c = int(item % channels);
    long const b = item / channels, batch = work.batch;
    A sum = 0, sum_x = 0;
    for (long n = batch * b / blocks; n < batch * (b + 1) / blocks; ++n) {
      auto const group = of.group(n * work.groups + c / (channels / work.groups));
      for (int p = 0; p < work.positions; ++p) {
        long const at = group.begin + long(p) * channels + c;
        A const x_hat = (A(work.x[at]) - group.mean) * group.inverse;
        A const g = group.gradient(A(work.d_y[at]), x_hat, c, at);
        sum += g;
        sum_x += g * x_hat;
      }
    }
    work.partial[2 * b * channels + c] = sum;
    work.partial[(2 * b + 1) * channels + c] = sum_x;
  }
};

template <class Chain, class P> struct Kernels<op::GroupNormalization<Chain>, P> {
  using Op = op::GroupNormalization<Chain>;
  using Forward = typename Op::template Forward<P>;
  using Backward = typename Op::template Backward<P>;

  static group_normalization_forward<Chain, P> body(Forward const& work) { return {work}; }
  static group_normalization_backward<Chain, P> body(Backward const& work) { return {work}; }
  /// Numbers of a group: a row of the launch.
  template <class Work> static int row_size(Work const& work) { return body(work).numbers(); }

  template <class Space>
  static void run(Space const& exec, std::string const& label, Forward const& work) {
    launch_rows(exec, label, body(work).rows(), row_size(work), body(work));
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, Backward const& work) {
    sum_rows(exec, label, work);
    if (work.d_x != nullptr)
      launch_rows(exec, label, body(work).rows(), row_size(work), body(work));
  }
  /// Before d_x, which may be d_y.
  template <class Space>
  static void sum_rows(Space const& exec, std::string const& label, Backward const& work) {
    if (work.d_scale == nullptr && work.d_shift == nullptr) return;
    int const blocks = Op::blocks_of(work.batch, work.positions);
    launch(exec, label, long(blocks) * work.channels,
           group_normalization_partial<Chain, P>{body(work), blocks});
    combine(exec, label, work, blocks);
  }
  template <class Space>
  static void combine(Space const& exec, std::string const& label, Backward const& work,
                      int blocks) {
    launch(exec, label, work.channels,
           row_normalization_combine<typename P::accumulate>{work.partial, work.d_scale,
                                                             work.d_shift, work.channels, blocks});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/group_moments.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/portable/group_normalization.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Mean, inverse deviation, scale and shift of each lane of a block.
template <class Chain, class P> struct GroupLanes {
  using A = typename P::accumulate;
  using S = typename P::storage;
  A mean[group_lanes], inverse[group_lanes], scale[group_lanes], shift[group_lanes];

  /// statistics: those of group `begin` first.
  template <class Work>
  void set(Work const& work, GroupBlock const& block, A const* statistics, int begin) {
    int const width = block.units.width;
    statistics += 2 * (block.first / width - begin);
    for (int c = 0; c < block.count; c += width, statistics += 2) {
      int const end = block.count - c < width ? block.count : c + width;
      for (int i = c; i < end; ++i) {
        mean[i] = statistics[0];
        inverse[i] = statistics[1];
      }
    }
    for (int i = 0; i < block.count; ++i) {
      scale[i] = work.scale != nullptr ? number<A>(work.scale + block.first, i) : A(1);
      shift[i] = work.shift != nullptr ? number<A>(work.shift + block.first, i) : A(0);
    }
    block.spread(mean);
    block.spread(inverse);
    block.spread(scale);
    block.spread(shift);
  }
  PHYLLO_INLINE_ON_HOST A x_hat(S const* x, int i) const {
    return (number<A>(x, i) - mean[i]) * inverse[i];
  }
  PHYLLO_INLINE_ON_HOST static Element element(Randomness const& random, int n, long at) {
    return Chain::random ? random.element(n, int(at)) : Element{};
  }
  /// Gradient at the chain's input.
  PHYLLO_INLINE_ON_HOST A gradient(S const* d_y, A x_hat, int i, Element const& e) const {
    if constexpr (Chain::length == 0) return number<A>(d_y, i);
    A const z = x_hat * scale[i] + shift[i];
    A const kept = Chain::derivative_of == Derivative::output ? Chain::value(z, e) : z;
    return number<A>(d_y, i) * Chain::derivative(kept, e);
  }
};

/// One piece: some units of samples, each by itself.
template <class Chain, class P> struct group_normalization_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::GroupNormalization<Chain>::template Forward<P> work;
  GroupUnits units;
  int pieces;

  void operator()(int piece) const {
    long const items = long(work.batch) * units.units;
    for (long i = items * piece / pieces; i < items * (piece + 1) / pieces; ++i)
      normalize(int(i / units.units), int(i % units.units));
  }

 private:
  void normalize(int n, int unit) const {
    long const sample = long(n) * work.positions * work.channels;
    int const first = units.first_channel(unit), end = first + units.channels_of(unit);
    A statistics[2 * group_lanes];  // of the unit's groups
    GroupMoments<A> wide;           // of a group that is several blocks
    ChannelMoments<P> moments;
    for (int c = first; c < end; c += group_lanes) {
      GroupBlock const block(units, c, end - c);
      moments.measure(block, work.x + sample);
      if (end - first > group_lanes) {
        wide.add(moments.together(work.positions, 0, block.count));
        finish(wide, statistics);
      } else {
        for (int g = 0; g < units.groups_of(unit); ++g)
          finish(moments.together(work.positions, g * units.width, (g + 1) * units.width),
                 statistics + 2 * g);
      }
    }
    int const group = units.first_group(unit);
    if (work.statistics != nullptr)
      for (int i = 0; i < 2 * units.groups_of(unit); ++i)
        work.statistics[2 * (long(n) * units.groups + group) + i] = statistics[i];
    GroupLanes<Chain, P> lanes;
    for (int c = first; c < end; c += group_lanes) {
      GroupBlock const block(units, c, end - c);
      lanes.set(work, block, statistics, group);
      block.each(0, work.positions, [&](int rows, long at, long stride, int numbers) {
        for (int r = 0; r < rows; ++r, at += stride) {
          S const* const x = work.x + sample + at;
          S* const y = work.y + sample + at;
          PHYLLO_SIMD(16)
          for (int i = 0; i < numbers; ++i) {
            A const z = lanes.x_hat(x, i) * lanes.scale[i] + lanes.shift[i];
            store_number(Chain::value(z, lanes.element(work.random, n, at + i)), y, i);
          }
        }
      });
    }
  }
  void finish(GroupMoments<A> const& m, A* statistics) const {
    statistics[0] = m.mean;
    statistics[1] = A(1) / square_root(m.squares / m.count + work.epsilon);
  }
};

/// One piece: some units of blocks of samples; sums of g and of g x_hat of each channel, and d_x.
template <class Chain, class P> struct group_normalization_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::GroupNormalization<Chain>::template Backward<P> work;
  GroupUnits units;
  int blocks, pieces;

  void operator()(int piece) const {
    long const items = long(blocks) * units.units, batch = work.batch;
    for (long i = items * piece / pieces; i < items * (piece + 1) / pieces; ++i) {
      long const b = i / units.units;
      int const unit = int(i % units.units);
      A* const partial = sums_parameters() ? work.partial + 2 * b * work.channels : nullptr;
      if (partial != nullptr)
        for (int c = 0; c < units.channels_of(unit); ++c)
          partial[units.first_channel(unit) + c] =
              partial[work.channels + units.first_channel(unit) + c] = A(0);
      for (long n = batch * b / blocks; n < batch * (b + 1) / blocks; ++n)
        differentiate(int(n), unit, partial);
    }
  }
  bool sums_parameters() const { return work.d_scale != nullptr || work.d_shift != nullptr; }

 private:
  // Gradients at the input of an expensive chain are stored in d_x until the group's sums are
  // known.
  static constexpr bool may_keep =
      Chain::length > 0 && Chain::needs_constants&& std::is_same_v<S, A>;

  void differentiate(int n, int unit, A* partial) const {
    long const sample = long(n) * work.positions * work.channels;
    int const first = units.first_channel(unit), end = first + units.channels_of(unit);
    A const* const statistics = work.statistics + 2L * n * units.groups;
    A mean_h[group_lanes] = {}, mean_hx[group_lanes] = {};  // of each group
    A const share = A(1) / (A(work.positions) * A(units.width));
    bool const keeps = may_keep && work.d_x != nullptr && !work.accumulate_gradient;
    GroupLanes<Chain, P> lanes;
    for (int c = first; c < end; c += group_lanes) {
      GroupBlock const block(units, c, end - c);
      A sum[group_lanes] = {}, sum_x[group_lanes] = {};
      lanes.set(work, block, statistics, 0);
      block.each(0, work.positions, [&](int rows, long at, long stride, int numbers) {
        if (keeps)
          add<may_keep>(lanes, n, sample, rows, at, stride, numbers, sum, sum_x);
        else
          add<false>(lanes, n, sample, rows, at, stride, numbers, sum, sum_x);
      });
      block.fold(sum);
      block.fold(sum_x);
      for (int i = 0, g = 0; i < block.count; i += units.width, ++g) {
        int const left = block.count - i, count = left < units.width ? left : units.width;
        mean_h[g] += share * add_scaled(sum + i, lanes.scale + i, count);
        mean_hx[g] += share * add_scaled(sum_x + i, lanes.scale + i, count);
      }
      if (partial == nullptr) continue;
      add_numbers(sum, block.count, partial + c);
      add_numbers(sum_x, block.count, partial + work.channels + c);
    }
    if (work.d_x == nullptr) return;
    for (int c = first; c < end; c += group_lanes) {
      GroupBlock const block(units, c, end - c);
      if (end - first > group_lanes) lanes.set(work, block, statistics, 0);
      A h[group_lanes], hx[group_lanes];
      for (int i = 0, g = 0; i < block.count; i += units.width, ++g) {
        int const left = block.count - i, count = left < units.width ? left : units.width;
        for (int k = i; k < i + count; ++k) {
          h[k] = mean_h[g];
          hx[k] = mean_hx[g];
        }
      }
      block.spread(h);
      block.spread(hx);
      block.each(0, work.positions, [&](int rows, long at, long stride, int numbers) {
        // Not asked inside of the loop: at -O2 GCC makes no vectors of one that does.
        if (keeps)
          store<may_keep, false>(lanes, n, sample, rows, at, stride, numbers, h, hx);
        else if (work.accumulate_gradient)
          store<false, true>(lanes, n, sample, rows, at, stride, numbers, h, hx);
        else
          store<false, false>(lanes, n, sample, rows, at, stride, numbers, h, hx);
      });
    }
  }
  static A add_scaled(A const* sum, A const* scale, int count) {
    return op::VectorLoops{}.template sum<A>(count, [=](int i) { return sum[i] * scale[i]; });
  }
  template <bool Keeps>
  void add(GroupLanes<Chain, P> const& lanes, int n, long sample, int rows, long at, long stride,
           int numbers, A* sum, A* sum_x) const {
    int r = 0;
    for (; r + 2 <= rows; r += 2, at += 2 * stride) {
      S const *const x = work.x + sample + at, *const x2 = x + stride;
      S const *const d_y = work.d_y + sample + at, *const d_y2 = d_y + stride;
      S* const d_x = Keeps ? work.d_x + sample + at : nullptr;
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        A const a = lanes.x_hat(x, i), b = lanes.x_hat(x2, i);
        A const g = lanes.gradient(d_y, a, i, lanes.element(work.random, n, at + i));
        A const h = lanes.gradient(d_y2, b, i, lanes.element(work.random, n, at + stride + i));
        sum[i] += g + h;
        sum_x[i] += g * a + h * b;
        if constexpr (Keeps) {
          store_number(g, d_x, i);
          store_number(h, d_x + stride, i);
        }
      }
    }
    for (; r < rows; ++r, at += stride) {
      S const* const x = work.x + sample + at;
      S const* const d_y = work.d_y + sample + at;
      S* const d_x = Keeps ? work.d_x + sample + at : nullptr;
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        A const a = lanes.x_hat(x, i);
        A const g = lanes.gradient(d_y, a, i, lanes.element(work.random, n, at + i));
        sum[i] += g;
        sum_x[i] += g * a;
        if constexpr (Keeps) store_number(g, d_x, i);
      }
    }
  }
  template <bool Kept, bool Added>
  void store(GroupLanes<Chain, P> const& lanes, int n, long sample, int rows, long at, long stride,
             int numbers, A const* mean_h, A const* mean_hx) const {
    for (int r = 0; r < rows; ++r, at += stride) {
      S const* const x = work.x + sample + at;
      S const* const d_y = work.d_y + sample + at;
      S* const d_x = work.d_x + sample + at;
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        A const a = lanes.x_hat(x, i);
        A const g = Kept ? number<A>(d_x, i)
                         : lanes.gradient(d_y, a, i, lanes.element(work.random, n, at + i));
        A const d = lanes.inverse[i] * (g * lanes.scale[i] - mean_h[i] - a * mean_hx[i]);
        store_number(Added ? number<A>(d_x, i) + d : d, d_x, i);
      }
    }
  }
};

/// Vectors over the channels, one unit of groups after the other; a sample's unit is read from a
/// cache the second time where one holds it. The pieces change no bit.
template <class Chain, class P> struct Kernels<op::GroupNormalization<Chain>, P> {
  using Op = op::GroupNormalization<Chain>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    GroupUnits const units(work);
    long const items = long(work.batch) * units.units;
    if (items == 0) return;
    int const pieces = worthy_pieces(exec, items, units.numbers_of(0));
    launch(exec, label, pieces, group_normalization_forward<Chain, P>{work, units, pieces});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    int const blocks = Op::blocks_of(work.batch, work.positions);
    GroupUnits const units(work);
    group_normalization_backward<Chain, P> body{work, units, blocks, 1};
    long const items = long(blocks) * units.units;
    if (items > 0 && (work.d_x != nullptr || body.sums_parameters())) {
      long const numbers = long(units.numbers_of(0)) * ((work.batch + blocks - 1) / blocks);
      body.pieces = worthy_pieces(exec, items, int(numbers < group_many ? numbers : group_many));
      launch(exec, label, body.pieces, body);
    }
    if (body.sums_parameters()) portable::Kernels<Op, P>::combine(exec, label, work, blocks);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/group_normalization.hpp>
#include <phyllo/backend/reference/group_normalization.hpp>

#include <backend/portable/row_comparison.hpp>

namespace phyllo::test {

/// Groups of a sample shared by teams, which devices run; here a team is one thread.
template <class Op, class P> struct GroupsByTeams : portable::Kernels<Op, P> {
  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    using Kernels = portable::Kernels<Op, P>;
    if constexpr (requires { work.d_x; }) {
      Kernels::sum_rows(exec, label, work);
      if (work.d_x == nullptr) return;
    }
    auto const body = Kernels::body(work);
    portable::launch_by_teams(exec, label, body.rows(), body.numbers(), body);
  }
};

/// Forward and backward passes of a group normalisation by a backend against the reference: with
/// and without scale, shift and each gradient.
template <class Chain, class P, template <class, class> class Kernels = portable::Kernels>
void compare_group_normalization(int batch, int positions, int channels, int groups) {
  using Op = op::GroupNormalization<Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  long const size = long(batch) * positions * channels;
  double const sums_bound = bound<Full<A>>();
  auto x = numbers<S>(size, 1);
  auto const d_y = numbers<S>(size, 2), scale = numbers<S>(channels, 3),
             shift = numbers<S>(channels, 4);
  // Channels and positions of other means: a group is more than the sum of its channels.
  for (long i = 0; i < size; ++i)
    x.data()[i] =
        S(A(x.data()[i]) + A(i % channels % 3) + A(i / channels % positions) / A(positions));
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  for (int const variant : {0, 1, 2, 3}) {
    INFO("batch ", batch, " positions ", positions, " channels ", channels, " groups ", groups,
         " variant ", variant);
    typename Op::template Forward<P> forward;
    forward.batch = batch;
    forward.positions = positions;
    forward.channels = channels;
    forward.groups = groups;
    forward.x = x.data();
    forward.scale = variant == 3 ? nullptr : scale.data();
    forward.shift = variant == 1 || variant == 3 ? nullptr : shift.data();
    forward.epsilon = A(0.25f);
    forward.random = {&state, 2};
    auto const to_y = [](auto& w, S* p) { w.y = p; };
    auto const to_statistics =
        output<A>(2L * batch * groups, [](auto& w, A* p) { w.statistics = p; });
    compare<Op, P, Kernels>(forward, bound<P>(), output<S>(size, to_y));
    compare<Op, P, Kernels>(forward, sums_bound, workspace<S>(size, to_y), to_statistics);

    auto statistics = to_statistics.fresh();
    auto y = numbers<S>(size, 5);
    forward.y = y.data();
    forward.statistics = statistics.data();
    reference::Kernels<Op, P>::run(Space(), "reference", forward);
    typename Op::template Backward<P> backward;
    backward.batch = batch;
    backward.positions = positions;
    backward.channels = channels;
    backward.groups = groups;
    backward.x = x.data();
    backward.d_y = d_y.data();
    backward.scale = forward.scale;
    backward.shift = forward.shift;
    backward.statistics = statistics.data();
    backward.random = forward.random;
    auto const partial =
        workspace<A>(2L * Op::sample_blocks * channels, [](auto& w, A* p) { w.partial = p; });
    auto const d_scale = output<A>(channels, [](auto& w, A* p) { w.d_scale = p; });
    auto const d_shift = output<A>(channels, [](auto& w, A* p) { w.d_shift = p; });
    if (variant == 1) compare<Op, P, Kernels>(backward, sums_bound * 8, partial, d_scale);
    if (variant == 2) compare<Op, P, Kernels>(backward, sums_bound * 8, partial, d_shift);
    bool const is_one_number = positions * (channels / groups) == 1;
    for (bool const added : {false, true}) {
      // One number without its mean has no gradient but the rounding of one.
      if (is_one_number && !added) continue;
      backward.accumulate_gradient = added;
      auto const d_x = output<S>(size, added, [](auto& w, S* p) { w.d_x = p; });
      if (variant == 3)
        compare<Op, P, Kernels>(backward, bound<P>() * 8, d_x);
      else
        compare<Op, P, Kernels>(backward, bound<P>() * 8, partial, d_scale, d_shift, d_x);
    }
    if (is_one_number) continue;
    backward.accumulate_gradient = false;
    compare<Op, P, Kernels>(backward, bound<P>() * 8, partial, d_scale, d_shift,
                            output<S>(size, true, [](auto& w, S* p) { w.d_y = w.d_x = p; }));
  }
}

/// Groups at and around the lanes of a block, few and many channels, positions and samples.
template <class Chain, class P, template <class, class> class Kernels = portable::Kernels>
void compare_group_normalizations() {
  auto const compare_one = compare_group_normalization<Chain, P, Kernels>;
  compare_one(2, 1, 6, 6);    // one number
  compare_one(3, 7, 6, 3);    // several positions together, and a rest
  compare_one(1, 270, 5, 1);  // several blocks of rows
  compare_one(2, 9, 33, 3);   // one position at a time
  compare_one(2, 5, 96, 32);  // two units, the second shorter
  compare_one(1, 5, 64, 1);   // one whole block
  compare_one(1, 9, 130, 1);  // a group of three blocks of channels
  compare_one(257, 1, 4, 2);  // more samples than blocks
  compare_one(0, 4, 8, 2);
}

}  // namespace phyllo::test

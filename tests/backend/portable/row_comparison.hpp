// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/axis_softmax.hpp>
#include <phyllo/backend/portable/row.hpp>
#include <phyllo/backend/reference/row.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

// Rows shared by teams, which devices run; here a team is one thread.
template <class Op, class P> struct ByTeams : portable::Kernels<Op, P> {
  template <class Space, class Work>
  static void run(Space const& exec, std::string const& label, Work const& work) {
    using Kernels = portable::Kernels<Op, P>;
    if constexpr (requires { Kernels::sum_rows(exec, label, work); }) {
      Kernels::sum_rows(exec, label, work);
      if (work.d_x == nullptr) return;
    }
    auto const body = Kernels::body(work);
    portable::launch_by_teams(exec, label, body.rows(), work.channels, body);
  }
};

template <class P, template <class, class> class Kernels> void compare_softmax() {
  using S = typename P::storage;
  auto const compare_rows = [](long rows, int channels) {
    auto x = numbers<S>(rows * channels, 1);
    auto const y = numbers<S>(rows * channels, 2), d_y = numbers<S>(rows * channels, 3);
    // Rows that would overflow without the shift.
    for (long i = 0; i < rows * channels; i += 5) x.data()[i] = S(300.0f + 3.0f * float(i % 7));
    compare<op::Softmax, P, Kernels>(op::Softmax::Forward<P>{rows, channels, x.data(), nullptr},
                                     bound<P>(),
                                     output<S>(rows * channels, [](auto& w, S* p) { w.y = p; }));
    for (bool const added : {false, true})
      compare<op::Softmax, P, Kernels>(
          op::Softmax::Backward<P>{rows, channels, y.data(), d_y.data(), nullptr, added},
          bound<P>(), output<S>(rows * channels, added, [](auto& w, S* p) { w.d_x = p; }));
  };
  for_size_rows([&](SizeRow const& pick) {
    compare_rows(pick.row % 11 == 5 ? 0 : pick(0) * pick(2), pick(1));
  });
  // Vectors of several registers, and rows of several chunks.
  for (int const channels : {63, 64, 65, 127, 200, 2048, 2049, 5000}) compare_rows(3, channels);
}

/// Softmax over an axis, or its logarithm, by a backend against the reference.
template <bool Logarithm, class P, template <class, class> class Kernels>
void compare_axis_softmax(long outer, int extent, int inner) {
  using Op = op::AxisSoftmax<Logarithm>;
  using S = typename P::storage;
  long const size = outer * extent * inner;
  INFO("outer ", outer, " extent ", extent, " inner ", inner);
  auto x = numbers<S>(size, 1);
  for (long i = 0; i < size; i += 5) x.data()[i] = S(300.0f + 3.0f * float(i % 7));
  auto const y = numbers<S>(size, 2), d_y = numbers<S>(size, 3);
  compare<Op, P, Kernels>(typename Op::template Forward<P>{outer, extent, inner, x.data(), nullptr},
                          bound<P>(), output<S>(size, [](auto& w, S* p) { w.y = p; }));
  for (bool const added : {false, true})
    compare<Op, P, Kernels>(typename Op::template Backward<P>{outer, extent, inner, y.data(),
                                                              d_y.data(), nullptr, added},
                            bound<P>(), output<S>(size, added, [](auto& w, S* p) { w.d_x = p; }));
}
template <class P, template <class, class> class Kernels> void compare_axis_softmaxes() {
  compare_axis_softmax<true, P, Kernels>(7, 5, 1);
  compare_axis_softmax<true, P, Kernels>(3, 200, 1);
  compare_axis_softmax<true, P, Kernels>(2, 6, 5);
  compare_axis_softmax<true, P, Kernels>(2, 3, 130);
  compare_axis_softmax<false, P, Kernels>(3, 6, 16);
  compare_axis_softmax<false, P, Kernels>(2, 7, 65);
  compare_axis_softmax<false, P, Kernels>(0, 4, 3);
}

/// Forward and backward passes of a row normalisation by a backend against the reference: with and
/// without mean, scale, shift and each gradient.
template <class Chain, class P, template <class, class> class Kernels = portable::Kernels>
void compare_row_normalization(int batch, int positions, int channels) {
  using Op = op::RowNormalization<Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  long const rows = long(batch) * positions, size = rows * channels;
  double const sums_bound = bound<Full<A>>();
  auto const x = numbers<S>(size, 1), d_y = numbers<S>(size, 2), scale = numbers<S>(channels, 3),
             shift = numbers<S>(channels, 4);
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  for (int const variant : {0, 1, 2, 3}) {
    INFO("batch ", batch, " positions ", positions, " channels ", channels, " variant ", variant);
    typename Op::template Forward<P> forward;
    forward.batch = batch;
    forward.positions = positions;
    forward.channels = channels;
    forward.centered = variant % 2 == 0;
    forward.x = x.data();
    forward.scale = variant == 3 ? nullptr : scale.data();
    forward.shift = variant == 1 || (variant == 3 && channels % 2 == 1) ? nullptr : shift.data();
    // As large as the squares: two channels whose mean is taken off have a gradient only then.
    forward.epsilon = A(0.25f);
    forward.random = {&state, 2};
    auto const to_y = [](auto& w, S* p) { w.y = p; };
    auto const to_statistics = output<A>(2 * rows, [](auto& w, A* p) { w.statistics = p; });
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
    backward.centered = forward.centered;
    backward.x = x.data();
    backward.d_y = d_y.data();
    backward.scale = forward.scale;
    backward.shift = forward.shift;
    backward.statistics = statistics.data();
    backward.random = forward.random;
    auto const partial =
        workspace<A>(2L * Op::row_blocks * channels, [](auto& w, A* p) { w.partial = p; });
    auto const d_scale = output<A>(channels, [](auto& w, A* p) { w.d_scale = p; });
    auto const d_shift = output<A>(channels, [](auto& w, A* p) { w.d_shift = p; });
    if (variant == 0) compare<Op, P, Kernels>(backward, sums_bound * 8, partial, d_scale, d_shift);
    if (variant == 1) compare<Op, P, Kernels>(backward, sums_bound * 8, partial, d_scale);
    if (variant == 2) compare<Op, P, Kernels>(backward, sums_bound * 8, partial, d_shift);
    for (bool const added : {false, true}) {
      // One channel without its mean has no gradient but the rounding of one.
      if (!added && channels == 1 && backward.centered) continue;
      backward.accumulate_gradient = added;
      auto const d_x = output<S>(size, added, [](auto& w, S* p) { w.d_x = p; });
      if (variant == 3)
        compare<Op, P, Kernels>(backward, bound<P>(), d_x);
      else
        compare<Op, P, Kernels>(backward, bound<P>() * 8, partial, d_scale, d_shift, d_x);
    }
    if (channels == 1 && backward.centered) continue;
    backward.accumulate_gradient = false;
    compare<Op, P, Kernels>(backward, bound<P>() * 8, partial, d_scale, d_shift,
                            output<S>(size, true, [](auto& w, S* p) { w.d_y = w.d_x = p; }));
  }
}

/// Counts of channels at and around vectors, few and many rows.
template <class Chain, class P, template <class, class> class Kernels = portable::Kernels>
void compare_row_normalizations() {
  for (int const channels : {1, 2, 7, 16, 64, 129}) {
    compare_row_normalization<Chain, P, Kernels>(1, 1, channels);
    compare_row_normalization<Chain, P, Kernels>(3, 1, channels);
    compare_row_normalization<Chain, P, Kernels>(7, 7, channels);
  }
  compare_row_normalization<Chain, P, Kernels>(1, 3, 1000);
  compare_row_normalization<Chain, P, Kernels>(40, 25, 7);
  compare_row_normalization<Chain, P, Kernels>(40, 25, 33);
  compare_row_normalization<Chain, P, Kernels>(0, 4, 17);
}

}  // namespace phyllo::test

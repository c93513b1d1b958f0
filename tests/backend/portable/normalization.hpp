// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/normalization.hpp>
#include <phyllo/backend/reference/normalization.hpp>

#include <backend/portable/comparison.hpp>

namespace phyllo::test {

/// Every pass of a batch normalisation by a backend against the reference.
template <class Chain, class P, template <class, class> class Kernels = portable::Kernels>
void compare_normalization(int batch, int positions, int channels) {
  using Op = op::Normalization<Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  INFO("batch ", batch, " positions ", positions, " channels ", channels);
  long const size = long(batch) * positions * channels;
  double const sums_bound = bound<Full<A>>();
  auto const x = numbers<S>(size, 1), d_y = numbers<S>(size, 2), scale = numbers<S>(channels, 3),
             shift = numbers<S>(channels, 4);
  auto const mean = numbers<A>(channels, 5), square_sums = numbers<A>(channels, 6),
             sums = numbers<A>(2 * channels, 7);
  auto inverse = numbers<A>(channels, 8), mean_sums = numbers<A>(channels + 1, 9);
  auto running_mean = numbers<float>(channels, 10), running_variance = numbers<float>(channels, 11);
  for (int c = 0; c < channels; ++c) {
    inverse.data()[c] += A(1.5);
    running_variance.data()[c] += 1.5f;
    mean_sums.data()[c] *= A(batch * positions);
  }
  mean_sums.data()[channels] = A(batch * positions);
  auto positive = square_sums;
  for (int c = 0; c < channels; ++c) positive.data()[c] += A(1.5);
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11};
  Randomness const random{&state, 2};

  typename Op::template Sum<P> sum;
  sum.batch = batch;
  sum.positions = positions;
  sum.channels = channels;
  sum.x = x.data();
  long const workspace_size = long(Op::row_blocks) * 2 * channels;
  auto const to_sums = [](auto& w, A* p) { w.sums = p; };
  compare<Op, P, Kernels>(sum, sums_bound * 8,
                          workspace<A>(workspace_size, [](auto& w, A* p) { w.partial = p; }),
                          output<A>(channels + 1, to_sums));
  // The centred ones have the workspace as the sums left it.
  Guarded<A> kept(workspace_size), counted(channels + 1);
  sum.partial = kept.data();
  sum.sums = counted.data();
  Kernels<Op, P>::run(Space(), "sums", sum);
  Space().fence("sums");
  sum.mean_sums = mean_sums.data();
  compare<Op, P, Kernels>(sum, sums_bound, output<A>(channels, to_sums));
  CHECK(kept.is_intact());

  typename Op::template Finish<P> finish;
  finish.channels = channels;
  finish.mean_sums = mean_sums.data();
  finish.square_sums = positive.data();
  finish.momentum = 0.1f;
  finish.epsilon = 1e-5f;
  // A batch without rows leaves all four as they are: numbers before, numbers after.
  compare<Op, P, Kernels>(
      finish, bound<Full<float>>(), output<A>(channels, true, [](auto& w, A* p) { w.mean = p; }),
      output<A>(channels, true, [](auto& w, A* p) { w.inverse_deviation = p; }),
      output<float>(channels, true, [](auto& w, float* p) { w.running_mean = p; }),
      output<float>(channels, true, [](auto& w, float* p) { w.running_variance = p; }));

  typename Op::template Forward<P> forward;
  forward.batch = batch;
  forward.positions = positions;
  forward.channels = channels;
  forward.x = x.data();
  forward.scale = scale.data();
  forward.shift = shift.data();
  forward.running_mean = running_mean.data();
  forward.running_variance = running_variance.data();
  forward.epsilon = 1e-5f;
  forward.random = random;
  auto const y = output<S>(size, [](auto& w, S* p) { w.y = p; });
  compare<Op, P, Kernels>(forward, bound<P>(), y);
  forward.mean = mean.data();
  forward.inverse_deviation = inverse.data();
  compare<Op, P, Kernels>(forward, bound<P>(), y);
  auto const summand = numbers<S>(size, 12), result = numbers<S>(size, 13);
  forward.added = summand.data();
  compare<Op, P, Kernels>(forward, bound<P>(), y);

  typename Op::template BackwardSums<P> backward_sums;
  backward_sums.batch = batch;
  backward_sums.positions = positions;
  backward_sums.channels = channels;
  backward_sums.x = x.data();
  backward_sums.d_y = d_y.data();
  backward_sums.scale = scale.data();
  backward_sums.shift = shift.data();
  backward_sums.mean = mean.data();
  backward_sums.inverse_deviation = inverse.data();
  backward_sums.random = random;
  auto const partials = workspace<A>(workspace_size, [](auto& w, A* p) { w.partial = p; });
  compare<Op, P, Kernels>(backward_sums, sums_bound * 8, partials,
                          output<A>(2 * channels, to_sums));
  compare<Op, P, Kernels>(backward_sums, sums_bound * 8, partials, output<A>(2 * channels, to_sums),
                          output<A>(channels, [](auto& w, A* p) { w.d_scale = p; }),
                          output<A>(channels, [](auto& w, A* p) { w.d_shift = p; }));
  backward_sums.added = summand.data();
  compare<Op, P, Kernels>(backward_sums, sums_bound * 8, partials,
                          output<A>(2 * channels, to_sums));
  backward_sums.y = result.data();
  compare<Op, P, Kernels>(backward_sums, sums_bound * 8, partials,
                          output<A>(2 * channels, to_sums));

  for (bool const added : {false, true}) {
    typename Op::template Backward<P> backward;
    backward.batch = batch;
    backward.positions = positions;
    backward.channels = channels;
    backward.x = x.data();
    backward.d_y = d_y.data();
    backward.scale = scale.data();
    backward.shift = shift.data();
    backward.mean = mean.data();
    backward.inverse_deviation = inverse.data();
    backward.sums = sums.data();
    backward.mean_sums = mean_sums.data();
    backward.accumulate_gradient = added;
    backward.random = random;
    compare<Op, P, Kernels>(backward, bound<P>(),
                            output<S>(size, added, [](auto& w, S* p) { w.d_x = p; }));
    if (!added)  // in place
      compare<Op, P, Kernels>(backward, bound<P>(),
                              output<S>(size, true, [](auto& w, S* p) { w.d_y = w.d_x = p; }));
    // Behind a sum: one gradient or both, to one place or two.
    backward.added = summand.data();
    backward.accumulate_added = !added;
    auto const to_added = output<S>(size, !added, [](auto& w, S* p) { w.d_added = p; });
    compare<Op, P, Kernels>(backward, bound<P>(), to_added);
    compare<Op, P, Kernels>(backward, bound<P>(), to_added,
                            output<S>(size, added, [](auto& w, S* p) { w.d_x = p; }));
    backward.y = result.data();
    backward.accumulate_added = true;
    compare<Op, P, Kernels>(backward, bound<P>(),
                            output<S>(size, added, [](auto& w, S* p) { w.d_x = w.d_added = p; }));
  }
}

}  // namespace phyllo::test

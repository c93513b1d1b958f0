// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backend/gpu/segment_cases.hpp>
#include <phyllo/backend/reference/segment.hpp>
#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace phyllo::test {

/// How the caller's inputs stand in memory: behind each other, or with gaps and in double.
enum class Inputs { in_one_piece, apart };

// Norm of the difference of some numbers, relative.
inline double distance(std::vector<float> const& expected, std::vector<float> const& got, int first,
                       int count) {
  double difference = 0, norm = 0;
  for (int i = first; i < first + count; ++i) {
    double const e = double(expected[std::size_t(i)]), d = double(got[std::size_t(i)]) - e;
    difference += d * d;
    norm += e * e;
  }
  return norm == 0 ? difference : std::sqrt(difference / norm);
}

// A whole step by plain loops and by Kernels, which find not-a-numbers in what they write.
// change: of inputs and parameters, where random ones are not what a test is about.
template <class Kernels, class Segment, class L, class S>
void compare_steps(int batch, Inputs inputs = Inputs::in_one_piece,
                   void (*change)(std::vector<S>& x, std::vector<S>& parameters, int const* weight,
                                  int const* bias) = nullptr) {
  CAPTURE(batch);
  using P = typename PrecisionOf<S>::type;
  using Op = op::WholeStep<Segment, L>;
  using A = Arena<Segment>;
  StepState const state{.seed = 5, .forward = 3, .first_sample = 11, .loss_scale = 64};
  auto x = numbers<S>(long(batch) * A::first, 1);
  std::vector<double> apart(std::size_t(batch * (2 * A::first + 1)), std::nan(""));
  for (int n = 0; n < batch; ++n)
    for (int c = 0; c < A::first; ++c)
      apart[std::size_t(n * (2 * A::first + 1) + 2 * c)] =
          double(float(x[std::size_t(n * A::first + c)]));
  std::vector<double> wanted(std::size_t(batch * A::last));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i] = L::classes ? double(i % A::last) : double(random_uniform(3, 0, 0, i, 0));
  std::vector<float> gradients[2], values[2], correct[2];
  typename Op::template Run<P> work;
  if constexpr (requires { L::other(); }) work.hold(L::other());
  auto p = A::template fill<S>(work.forward);
  if (change != nullptr) change(x, p, work.forward.weight, work.forward.bias);
  for (int k = 0; k < 2; ++k) {
    gradients[k].assign(p.size(), std::nanf(""));
    values[k].assign(std::size_t(batch), std::nanf(""));
    correct[k] = values[k];
    int const rows = Kernels::workspace_rows(Space{});
    std::vector<float> partial(
        std::size_t(std::max(long(rows) * long(p.size()), kernel_traits<Kernels>.partial_count)),
        std::nanf(""));
    std::vector<std::uint64_t> workspace(
        std::size_t(kernel_traits<Kernels>.sample_bytes * ((batch + 63) / 64 * 64) / 8),
        ~std::uint64_t(0));
    work.forward.batch = batch;
    work.forward.x = x.data();
    work.forward.parameters = p.data();
    work.forward.random = {&state, 5};
    work.forward.memory.first = reinterpret_cast<std::byte*>(workspace.data());
    work.weight = 0.5f;
    work.targets.data[0] = wanted.data();
    work.targets.type = ElementType::f64;
    work.targets.sample_stride = A::last;
    work.targets.channel_stride = 1;
    work.state = &state;
    work.parameter_count = int(p.size());
    work.rows = rows;
    work.partial = partial.data();
    work.gradients = gradients[k].data();
    work.values = values[k].data();
    work.correct = correct[k].data();
    ExternalTensor source;
    source.data[0] = const_cast<S*>(x.data());
    source.type = type_of<S>;
    source.sample_stride = A::first;
    source.channel_stride = 1;
    if (inputs == Inputs::apart) {
      source.data[0] = apart.data();
      source.type = ElementType::f64;
      source.sample_stride = 2 * A::first + 1;
      source.channel_stride = 2;
    }
    if (k == 0)
      reference::Kernels<Op, P>::run(Space{}, "reference", work);
    else
      Kernels::run(Space{}, "gpu", work, source);
  }
  // Values of 16 bits: a ReLU may fall to the other side, sums of gradients may cancel.
  double const bound = 1.5 * rounding<S>;
  for (int l = 0; l < A::layers; ++l) {
    CAPTURE(l);
    CHECK(distance(gradients[0], gradients[1], work.forward.weight[l],
                   A::inputs[l] * A::outputs[l]) <= bound);
    if (A::has_bias[l])
      CHECK(distance(gradients[0], gradients[1], work.forward.bias[l], A::outputs[l]) <= bound);
  }
  CHECK(distance(values[0], values[1], 0, batch) <= bound);
  float right[2] = {};
  for (int k = 0; k < 2; ++k)
    for (float const h : correct[k]) right[k] += h;
  CHECK(std::fabs(right[0] - right[1]) <= 0.02f * float(batch) + 1);
  // Between parameters there is nothing, which the norm of all gradients may add.
  for (std::size_t i = 0; i < p.size(); ++i)
    if (std::isnan(float(p[i]))) CHECK(gradients[1][i] == 0);
}

}  // namespace phyllo::test

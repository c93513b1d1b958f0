// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses tile by tile and row by row against plain loops: classes around vectors and chunks, few
// samples of many positions, class indices that are none, the same bits on any number of threads.

#include <phyllo/backend/select.hpp>

#include <doctest/doctest.h>

#if defined(PHYLLO_HAS_HOST_BACKEND)

#include <phyllo/loss/binary_cross_entropy.hpp>
#include <phyllo/loss/gaussian_likelihood.hpp>
#include <phyllo/loss/hinge.hpp>
#include <phyllo/loss/huber.hpp>
#include <phyllo/loss/kullback_leibler.hpp>
#include <phyllo/loss/log_cosh.hpp>
#include <phyllo/loss/mean_absolute_error.hpp>
#include <phyllo/loss/poisson_likelihood.hpp>
#include <phyllo/loss/quantile.hpp>

#include <backend/portable/loss_comparison.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

TEST_CASE_TEMPLATE("openmp: losses", P, PHYLLO_TEST_PRECISIONS) {
  compare_losses<MeanSquaredError, P, double, host::Kernels>();
  compare_losses<MeanSquaredError, P, float, host::Kernels>();
  for (int const channels : {1, 15, 16, 17, 63, 64, 65, 200})
    for (int const batch : {1, 40})
      compare_loss<MeanSquaredError, P, float, host::Kernels>(batch, {channels}, channels);
  compare_losses<CrossEntropy, P, std::int32_t, host::Kernels>();
  for (int const channels : {62, 63, 64, 65, 127, 128, 200, 2048, 2049, 5000})
    for (int const batch : {1, 5, 40})
      compare_loss<CrossEntropy, P, std::int32_t, host::Kernels>(batch, {channels}, channels);
  for (int variant = 0; variant < 3; ++variant) {
    compare_loss<CrossEntropy, P, std::int32_t, host::Kernels>(2, {3, 91, 101}, variant);
    compare_loss<CrossEntropy, P, std::int32_t, host::Kernels>(1, {20000, 1, 3}, variant);
    compare_loss<CrossEntropy, P, std::int32_t, host::Kernels>(17, {5, 60, 70}, variant);
  }
}

// Targets that are read in place, and those that are copied some rows at a time.
TEST_CASE_TEMPLATE("openmp: targets of all types and layouts", T, double, float, bf16, std::int64_t,
                   std::int32_t, std::uint8_t) {
  using P = Full<float>;
  for (TargetLayout const layout : {TargetLayout::right, TargetLayout::channels_last,
                                    TargetLayout::gaps, TargetLayout::channels_last_with_gaps}) {
    for (int const channels : {1, 2, 3})
      for (Shape const& shape :
           {Shape{channels}, Shape{channels, 3}, Shape{channels, 2, 5}, Shape{channels, 3, 2, 2}})
        compare_loss<MeanSquaredError, P, T, host::Kernels>(3, shape, channels, layout);
    for (int const channels : {1022, 4096, 4097})
      for (Shape const& shape : {Shape{channels}, Shape{channels, 1, 3}})
        compare_loss<MeanSquaredError, P, T, host::Kernels>(2, shape, channels, layout);
  }
  for (TargetLayout const layout : {TargetLayout::right, TargetLayout::channels_last})
    for (int const channels : {2, 8194}) {
      compare_loss<GaussianLikelihood, P, T, host::Kernels>(2, {channels}, 1, layout);
      compare_loss<GaussianLikelihood, P, T, host::Kernels>(2, {channels, 3, 2}, 2, layout);
    }
}

// Means over channels: the rows of one sample are computed as one. The divergence is none.
TEST_CASE_TEMPLATE("openmp: losses of images", L, BinaryCrossEntropy, Hinge, Huber, SmoothL1,
                   LogCosh, MeanAbsoluteError, MeanSquaredError, PoissonLikelihood, Quantile,
                   KullbackLeibler) {
  for (int const channels : {1, 3, 4}) {
    compare_loss<L, Full<double>, double, host::Kernels>(1, {channels, 31, 41}, channels);
    compare_loss<L, Full<double>, double, host::Kernels>(17, {channels, 31, 17}, channels,
                                                         TargetLayout::channels_last);
    compare_loss<L, Full<float>, float, host::Kernels>(17, {channels, 4, 5}, channels,
                                                       TargetLayout::channels_last);
    compare_loss<L, Mixed<bf16, float>, bf16, host::Kernels>(3, {channels, 4, 5}, channels);
  }
}

TEST_CASE_TEMPLATE("openmp: logits without bound, and class indices that are none", P, Full<double>,
                   Full<float>) {
  using A = typename P::accumulate;
  Space const exec;
  A const infinity = std::numeric_limits<A>::infinity();
  for (int const channels : {3, 64, 5000}) {
    CAPTURE(channels);
    constexpr int rows = 6;
    std::vector<A> z(std::size_t(rows * channels)), d(z.size(), A(7)), values(rows), correct(rows);
    auto const at = [&](int n, int c) -> A& { return z[std::size_t(n * channels + c)]; };
    for (int c = 1; c < channels; ++c) at(0, c) = at(2, c) = -infinity;  // a mask
    at(1, 1) = 2000;
    for (int c = 0; c + 1 < channels; ++c) at(3, c) = -infinity;  // all of it before the answer
    at(4, channels - 1) = std::numeric_limits<A>::quiet_NaN();
    std::vector<std::int32_t> label{0, 0, -1, channels - 1, 1, channels};
    typename op::Loss<CrossEntropy>::template Evaluate<P> work;
    work.batch = rows;
    work.shape = Shape{channels};
    work.outputs = z.data();
    work.targets = targets(label, 1, work.shape);
    work.d_outputs = d.data();
    work.values = values.data();
    work.correct = correct.data();
    host::Kernels<op::Loss<CrossEntropy>, P>::run(exec, "loss", work);
    exec.fence("loss");
    CHECK(values[0] == 0);
    CHECK(values[1] == 2000);
    CHECK(std::isnan(values[2]));
    CHECK(values[3] == 0);
    CHECK(std::isnan(values[4]));
    CHECK(std::isnan(values[5]));
    CHECK(correct == std::vector<A>{1, 0, 0, 1, 0, 0});
    for (int c = 0; c < channels; ++c) {
      CHECK(d[std::size_t(c)] == 0);
      CHECK(d[std::size_t(3 * channels + c)] == 0);
    }
    CHECK(d[std::size_t(channels)] == -1);
    CHECK(d[std::size_t(channels + 1)] == 1);
  }
}

TEST_CASE_TEMPLATE("openmp: sums over samples", P, Full<double>, Full<float>) {
  using A = typename P::accumulate;
  Kokkos::DefaultHostExecutionSpace const exec;
  for (int const batch : {0, 1, 63, 64, 65, 1000}) {
    CAPTURE(batch);
    std::vector<A> values(std::size_t(batch) + 1), correct(std::size_t(batch) + 1);
    double value = 0, right = 0;
    for (int n = 0; n < batch; ++n) {
      values[std::size_t(n)] = A(std::sin(1.0 + n));
      correct[std::size_t(n)] = A(n % 3 == 0);
      value += double(values[std::size_t(n)]);
      right += double(correct[std::size_t(n)]);
    }
    for (bool const with_correct : {false, true}) {
      A sums[3] = {A(-1), A(-1), A(-1)};
      host::Kernels<op::LossSum<P>, P>::run(
          exec, "sums",
          {batch, values.data(), with_correct ? correct.data() : nullptr, nullptr, sums});
      exec.fence("sums");
      CHECK(sums[0] == A(batch));
      CHECK(double(sums[1]) == doctest::Approx(value).epsilon(1e-6));
      CHECK(double(sums[2]) == (with_correct ? right : 0));
    }
  }
}

#endif

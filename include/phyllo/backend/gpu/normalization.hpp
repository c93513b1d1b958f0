// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/column_sums.hpp>
#include <phyllo/backend/portable/normalization.hpp>

#include <string>

namespace phyllo::gpu {

/// Numbers, or their centred squares where the sums of the numbers are known.
template <class Chain, class P> struct StatisticsValues {
  static constexpr int quantities = 1;
  typename op::Normalization<Chain>::template Sum<P> work;

  PHYLLO_INLINE void operator()(long row, int c, float (&sum)[1]) const {
    float const x = float(work.x[row * work.channels + c]);
    bool const centered = work.mean_sums != nullptr && work.mean_sums[work.channels] != 0;
    float const d = centered ? x - work.mean_sums[c] / work.mean_sums[work.channels] : x;
    sum[0] += centered ? d * d : d;
  }
};

/// Gradients behind the normalisation, and these times the normalised numbers.
template <class Chain, class P> struct NormalizationGradientValues {
  static constexpr int quantities = 2;
  typename op::Normalization<Chain>::template BackwardSums<P> work;

  PHYLLO_INLINE void operator()(long row, int c, float (&sum)[2]) const {
    float x_hat = 0;
    float const g =
        portable::normalization_gradient<Chain, float>(work, row * work.channels + c, x_hat);
    sum[0] += g;
    sum[1] += g * x_hat;
  }
};

/// Batch normalisation: sums over rows by blocks that read whole lines of memory; what works number
/// by number is as in `portable`.
///
/// options  Device: as in SegmentKernels
template <class Device, class Chain, class P>
struct NormalizationKernels : portable::Kernels<op::Normalization<Chain>, P> {
  using Op = op::Normalization<Chain>;
  using Portable = portable::Kernels<Op, P>;
  static constexpr int lanes = Device::template Unit<typename P::storage>::lanes;
  using Portable::run;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Sum<P> const& work) {
    sum(exec, label, StatisticsValues<Chain, P>{work}, work);
    Portable::combine(exec, label, work);
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardSums<P> const& work) {
    sum(exec, label, NormalizationGradientValues<Chain, P>{work}, work);
    Portable::combine(exec, label, work);
  }

 private:
  template <class Space, class Values, class Work>
  static void sum(Space const& exec, std::string const& label, Values const& values,
                  Work const& work) {
    column_sums<lanes, Values> const kernel{values, work.partial, long(work.batch) * work.positions,
                                            work.channels, Op::row_blocks};
    Device::launch(exec, label, kernel, kernel.blocks());
  }
};

}  // namespace phyllo::gpu

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/data/sample_statistics.hpp>
#include <phyllo/fit/metric_row.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Mean absolute error: mean over samples, positions and channels of |output - target|.
///
/// units    that of the targets
/// source   none
struct AbsoluteError {
  static constexpr char const* name = "absolute_error";
  static constexpr bool classes = false;
  static constexpr int sums(int) { return 2; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    for (int c = 0; c < y.channels(); ++c) sums[0] += Kokkos::abs(y(c) - y.target(c));
    sums[1] += y.channels();
  }
  static double value(double const* sums, int) { return sums[0] / sums[1]; }
};

/// Root mean square error: the root of the mean over samples, positions and channels.
///
/// units    that of the targets
/// source   none
struct RootMeanSquareError {
  static constexpr char const* name = "root_mean_square_error";
  static constexpr bool classes = false;
  static constexpr int sums(int) { return 2; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    for (int c = 0; c < y.channels(); ++c) {
      double const d = y(c) - y.target(c);
      sums[0] += d * d;
    }
    sums[1] += y.channels();
  }
  static double value(double const* sums, int) { return Kokkos::sqrt(sums[0] / sums[1]); }
};

/// Coefficient of determination: 1 - (sum of squared errors) / (sum of squared differences from the
/// channel's mean target), the mean over channels; 1 is perfect, 0 as good as the mean.
///
/// numerics means and squared deviations of the targets are merged, so that targets far from zero
///          keep their digits. A channel whose targets are all equal counts 1 where it is met
///          exactly, and 0 else, as in scikit-learn
/// source   Wright, "Correlation and Causation", J. Agric. Res. 20 (1921) 557; updates of the mean:
///          Welford, Technometrics 4 (1962) 419
struct R2 {
  static constexpr char const* name = "r2";
  static constexpr bool classes = false;
  // Rows; for each channel squared errors, mean target, squared deviations from it.
  static constexpr int sums(int channels) { return 1 + 3 * channels; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    sums[0] += 1;
    double const share = 1 / sums[0];
    for (int c = 0; c < y.channels(); ++c) {
      double* const s = sums + 1 + 3 * c;
      double const target = y.target(c), error = y(c) - target, apart = target - s[1];
      s[0] += error * error;
      s[1] += apart * share;
      s[2] += apart * (target - s[1]);
    }
  }
  static void merge(double const* other, double* sums, int channels) {
    for (int c = 0; c < channels; ++c) {
      double const* const from = other + 1 + 3 * c;
      double* const s = sums + 1 + 3 * c;
      Moments all{s[1], s[2]};
      all.merge(sums[0], {from[1], from[2]}, other[0]);
      s[0] += from[0];
      s[1] = all.mean;
      s[2] = all.squares;
    }
    sums[0] += other[0];
  }
  static double value(double const* sums, int channels) {
    double mean = 0;
    for (int c = 0; c < channels; ++c) {
      double const error = sums[1 + 3 * c], total = sums[3 + 3 * c];
      mean += (total == 0 ? (error == 0 ? 1.0 : 0.0) : 1 - error / total) / channels;
    }
    return mean;
  }
};

namespace detail {

// top_5
template <int K> struct TopName {
  char text[16] = "top_";
  constexpr TopName() {
    int digits = 1;
    for (int rest = K / 10; rest > 0; rest /= 10) ++digits;
    for (int at = 3 + digits, rest = K; at > 3; --at, rest /= 10) text[at] = char('0' + rest % 10);
  }
};
template <int K> inline constexpr TopName<K> top_name = {};

}  // namespace detail

/// Share of positions whose class is among the K largest outputs; of equal outputs the lower class
/// counts as larger.
///
/// options  K = 1: the accuracy, where outputs are numbers
/// numerics an output that is not a number counts as larger than all numbers, and is never right
/// source   none
template <int K = 1> struct TopK {
  static_assert(K > 0, "TopK: K must be positive.");
  static constexpr char const* name = detail::top_name<K>.text;
  static constexpr bool classes = true;
  static constexpr int sums(int) { return 2; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    long const label = y.label();
    double const own = y(int(label));
    int before = Kokkos::isnan(own) ? K : 0;
    for (int c = 0; c < y.channels(); ++c) {
      double const other = y(c);
      before += Kokkos::isnan(other) || other > own || (other == own && c < label);
    }
    sums[0] += before < K ? 1 : 0;
    sums[1] += 1;
  }
  static double value(double const* sums, int) { return sums[0] / sums[1]; }
};

/// How often class j was predicted where class i was right: element i * C + j.
///
/// numerics of outputs that are not a number the first is the prediction
/// cost     C^2 sums
/// source   none
struct ConfusionMatrix {
  static constexpr char const* name = "confusion_matrix";
  static constexpr bool classes = true;
  static constexpr int sums(int channels) { return channels * channels; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    int largest = 0;
    for (int c = 1; c < y.channels() && !Kokkos::isnan(y(largest)); ++c)
      if (!(y(c) <= y(largest))) largest = c;
    sums[y.label() * y.channels() + largest] += 1;
  }
  static std::vector<long> value(double const* sums, int channels) {
    return std::vector<long>(sums, sums + long(channels) * channels);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
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
/// numerics a channel whose targets are all equal but for roundings counts 1 where it is met
///          exactly, and 0 else, as in scikit-learn
/// source   Wright, "Correlation and Causation", J. Agric. Res. 20 (1921) 557
struct R2 {
  static constexpr char const* name = "r2";
  static constexpr bool classes = false;
  static constexpr int sums(int channels) { return 1 + 3 * channels; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    sums[0] += 1;
    for (int c = 0; c < y.channels(); ++c) {
      double const error = y(c) - y.target(c), target = y.target(c);
      sums[1 + 3 * c] += error * error;
      sums[2 + 3 * c] += target;
      sums[3 + 3 * c] += target * target;
    }
  }
  static double value(double const* sums, int channels) {
    double mean = 0;
    for (int c = 0; c < channels; ++c) {
      double const error = sums[1 + 3 * c], target = sums[2 + 3 * c];
      double const total = sums[3 + 3 * c] - target * target / sums[0];
      bool const varies = total > 1e-14 * sums[3 + 3 * c];
      mean += (varies ? 1 - error / total : error == 0 ? 1.0 : 0.0) / channels;
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
/// options  K = 1: the accuracy
/// source   none
template <int K = 1> struct TopK {
  static_assert(K > 0, "TopK: K must be positive.");
  static constexpr char const* name = detail::top_name<K>.text;
  static constexpr bool classes = true;
  static constexpr int sums(int) { return 2; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    long const label = y.label();
    int before = 0;
    for (int c = 0; c < y.channels(); ++c) {
      double const difference = y(c) - y(int(label));
      before += difference > 0 || (difference == 0 && c < label);
    }
    sums[0] += before < K ? 1 : 0;
    sums[1] += 1;
  }
  static double value(double const* sums, int) { return sums[0] / sums[1]; }
};

/// How often class j was predicted where class i was right: element i * C + j.
///
/// cost     C^2 sums
/// source   none
struct ConfusionMatrix {
  static constexpr char const* name = "confusion_matrix";
  static constexpr bool classes = true;
  static constexpr int sums(int channels) { return channels * channels; }

  PHYLLO_FUNCTION void add(MetricRow const& y, double* sums) const {
    int largest = 0;
    for (int c = 1; c < y.channels(); ++c)
      if (y(c) > y(largest)) largest = c;
    sums[y.label() * y.channels() + largest] += 1;
  }
  static std::vector<long> value(double const* sums, int channels) {
    return std::vector<long>(sums, sums + long(channels) * channels);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA

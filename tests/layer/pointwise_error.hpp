// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <phyllo/core/role.hpp>

namespace phyllo::test {

/// Largest errors of a pointwise layer against functions of long double, in epsilons of T.
struct PointwiseError {
  double value = 0;       // relative to the exact value and to relative_scale(x)
  double derivative = 0;  // absolute
};

template <class Layer, class T, class Value, class Slope, class Scale>
PointwiseError pointwise_error(double low, double high, Value exact, Slope exact_derivative,
                               Scale relative_scale) {
  int const count = 200001;
  long double const epsilon = std::numeric_limits<T>::epsilon();
  PointwiseError worst;
  for (int i = 0; i < count; ++i) {
    T const x = T(low + (high - low) * i / (count - 1));
    T const y = Layer::value(x);
    T const slope = Layer::derivative(Layer::derivative_of == Derivative::output ? y : x);
    long double const wanted = exact((long double)(x));
    long double const smallest = std::numeric_limits<T>::min();
    if (std::fabs(wanted) >= smallest) {
      long double const off = std::fabs((long double)(y)-wanted) / std::fabs(wanted);
      worst.value = std::max(worst.value, double(off / epsilon / relative_scale((long double)(x))));
    } else {
      // Below the normal numbers the error is at most that of the smallest one.
      if (std::fabs((long double)(y)-wanted) > smallest) worst.value = 1e30;
    }
    long double const wanted_slope = exact_derivative((long double)(x));
    long double const slope_off = std::fabs((long double)(slope)-wanted_slope);
    // The comparison is written so that a NaN is the worst.
    if (!(double(slope_off / epsilon) <= worst.derivative))
      worst.derivative = double(slope_off / epsilon);
  }
  return worst;
}

}  // namespace phyllo::test

// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// The channels around one, their number and the constants of a response normalisation.
template <class A> struct ResponseWindow {
  int channels = 1;
  int size = 1;
  A share = 0;  // alpha / size
  A beta = 0;
  A k = 1;

  /// First and last plus one of the channels that channel c is divided by.
  PHYLLO_INLINE int begin(int c) const { return c > size / 2 ? c - size / 2 : 0; }
  PHYLLO_INLINE int end(int c) const {
    int const last = c + (size - 1) / 2 + 1;
    return last < channels ? last : channels;
  }
  /// First and last plus one of the channels that are divided by channel c.
  PHYLLO_INLINE int first_reader(int c) const {
    return c > (size - 1) / 2 ? c - (size - 1) / 2 : 0;
  }
  PHYLLO_INLINE int last_reader(int c) const {
    int const last = c + size / 2 + 1;
    return last < channels ? last : channels;
  }
  /// What channel c of a row is divided by, before the power.
  template <class T> PHYLLO_INLINE A base(T const* x, int c) const {
    A sum = 0;
    for (int i = begin(c); i < end(c); ++i) sum += A(x[i]) * A(x[i]);
    return k + share * sum;
  }
  /// base^-beta; by roots for the usual power of 3/4.
  PHYLLO_INLINE A factor(A base) const {
    if (beta == A(0.75)) {
      A const root = Kokkos::sqrt(base);
      return A(1) / (root * Kokkos::sqrt(root));
    }
    return Kokkos::pow(base, -beta);
  }
};

/// Division of every number by a power of the mean square of the channels around it:
/// y_c = x_c s_c^-beta, s_c = k + alpha / size * sum of x_i^2 over i from c - size / 2 to
/// c + (size - 1) / 2, those that exist.
///
/// shape    x, y (rows, C), rows = N times positions
/// numerics sums of squares in rising order of channels
/// cost     one read, one write; backward two reads, one write; size multiply-adds a number
/// source   Krizhevsky, Sutskever and Hinton, ImageNet Classification with Deep Convolutional
///          Neural Networks, NeurIPS 2012, §3.3; the bounds and alpha / size are torch's
struct LocalResponse {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    long rows = 0;
    ResponseWindow<typename Precision::accumulate> window;
    storage const* x = nullptr;
    storage* y = nullptr;
  };
  /// d_x_c (+)= d_y_c s_c^-beta - 2 beta alpha / size x_c times the sum over the channels i that
  /// are divided by c of d_y_i x_i s_i^(-beta - 1)
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    long rows = 0;
    ResponseWindow<typename Precision::accumulate> window;
    storage const* x = nullptr;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op

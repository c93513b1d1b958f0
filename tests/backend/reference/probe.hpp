// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/op/chain.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace phyllo::test {

/// A user's layer: x tanh(log(1 + exp(x))), differentiated from its input.
struct UserMish : Pointwise {
  static constexpr char const* name = "mish";
  template <class T> PHYLLO_FUNCTION static T value(T x) {
    return x * Kokkos::tanh(Kokkos::log1p(Kokkos::exp(x)));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) {
    T const t = Kokkos::tanh(Kokkos::log1p(Kokkos::exp(x)));
    return t + x * (T(1) - t * t) / (T(1) + Kokkos::exp(-x));
  }
};

/// Launches one work of an op on the reference backend and waits for it.
template <class Op, class Precision, class Work> void run(Work const& work) {
  Kokkos::DefaultHostExecutionSpace const exec;
  reference::Kernels<Op, Precision>::run(exec, "test", work);
  exec.fence("test");
}

/// Numbers in [-1, 1), the same on every platform; each stream has its own.
inline std::vector<double> numbers(int count, unsigned stream) {
  std::vector<double> v(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = 2 * double(random_uniform(11, 0, stream, 0, std::uint32_t(i))) - 1;
  return v;
}

/// Numbers in [-1, 1) no two of which are closer than 1 / count, in an irregular order.
inline std::vector<double> separated_numbers(int count, unsigned stream) {
  std::vector<double> v(static_cast<std::size_t>(count)), order = numbers(count, stream);
  for (std::size_t i = 0; i < v.size(); ++i) {
    int rank = 0;
    for (std::size_t j = 0; j < v.size(); ++j)
      rank += order[j] < order[i] || (order[j] == order[i] && j < i);
    v[i] = 2.0 * rank / count - 1;
  }
  return v;
}

inline double dot(std::vector<double> const& a, std::vector<double> const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  // Written so that a NaN is the largest.
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= largest)) largest = std::abs(a[i] - b[i]);
  return largest;
}

inline std::vector<double> sum(std::vector<double> a, std::vector<double> const& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

template <class T> std::vector<T> rounded(std::vector<double> const& from) {
  std::vector<T> to;
  for (double const a : from) to.push_back(T(a));
  return to;
}
template <class T> std::vector<double> widened(std::vector<T> const& from) {
  std::vector<double> to;
  for (T const a : from) to.push_back(double(a));
  return to;
}

/// Whether finite differences stay on one side of a kink at zero.
inline bool away_from_zero(std::vector<double> const& v) {
  for (double const a : v)
    if (std::abs(a) < 1e-4) return false;
  return true;
}

/// What a backward pass is given of a chain's input and output.
template <class Chain, class S>
S const* kept(std::vector<S> const& input, std::vector<S> const& output) {
  if (Chain::derivative_of == Derivative::nothing) return nullptr;
  return Chain::derivative_of == Derivative::output ? output.data() : input.data();
}

}  // namespace phyllo::test
